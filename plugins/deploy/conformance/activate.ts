import assert from 'node:assert/strict'
import type { Release } from '../contract.ts'
import type { DeployCase, DeployHarness, DeployWorld } from './harness.ts'
import { FILES, createWorld } from './harness.ts'

async function releaseOf(
  { deployer }: DeployHarness,
  world: DeployWorld,
  files = FILES,
): Promise<Release> {
  const manifest = await deployer.build(world.task(files), world.tools)
  return { deployment_id: 'dep_1', app_id: 'app00001', manifest }
}

/** Whether a release can be served, and served again. */
export const activateCases: readonly DeployCase[] = [
  {
    name: 'activate: what was built can be served, however often it is asked',
    async run(harness) {
      const world = createWorld()
      const release = await releaseOf(harness, world)
      await harness.deployer.activate(release, world.tools)
      await harness.deployer.activate(release, world.tools)
    },
  },
  {
    name: 'activate: an earlier release can be served again after another',
    async run(harness) {
      const world = createWorld()
      const first = await releaseOf(harness, world)
      await harness.deployer.activate(first, world.tools)
      const files = { 'index.html': '<p>Second</p>' }
      const second = await releaseOf(harness, world, files)
      await harness.deployer.activate({ ...second, deployment_id: 'dep_2' }, world.tools)
      await harness.deployer.activate({ ...first, deployment_id: 'dep_3' }, world.tools)
    },
  },
  {
    name: 'activate: a release of which anything is gone is refused, whatever it is',
    async run(harness) {
      const world = createWorld()
      const release = await releaseOf(harness, world)
      for (const { sha256, size, encoded } of release.manifest.files.values()) {
        for (const one of [{ sha256, size }, ...Object.values(encoded)]) {
          if (one.size === 0) continue
          const bytes = world.kept.get(one.sha256)
          world.kept.delete(one.sha256)
          await assert.rejects(harness.deployer.activate(release, world.tools))
          if (bytes !== undefined) world.kept.set(one.sha256, bytes)
        }
      }
      await harness.deployer.activate(release, world.tools)
    },
  },
  {
    name: 'activate: a release of which anything was cut off is refused as such',
    async run(harness) {
      const world = createWorld()
      const release = await releaseOf(harness, world)
      const { sha256 = '' } = release.manifest.files.get('index.html') ?? {}
      world.kept.set(sha256, Buffer.from('<!doctype'))
      const work = harness.deployer.activate(release, world.tools)
      await assert.rejects(work, { code: 'file_gone' })
    },
  },
  {
    name: 'activate: one that was canceled is not gone on with',
    async run(harness) {
      const world = createWorld()
      const release = await releaseOf(harness, world)
      const cancel = new AbortController()
      const reason = new Error('not wanted any more')
      const read = world.tools.read
      const tools = {
        ...world.tools,
        signal: cancel.signal,
        async read(sha256: string) {
          cancel.abort(reason)
          return read(sha256)
        },
      }
      const work = harness.deployer.activate(release, tools)
      await assert.rejects(work, (error) => error === reason)
    },
  },
]
