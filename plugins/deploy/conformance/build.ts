import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Encoding, Manifest } from '../contract.ts'
import { ENCODINGS, printManifest, readManifest } from '../contract.ts'
import type { DeployCase, DeployHarness, DeployWorld } from './harness.ts'
import { FILES, createWorld } from './harness.ts'

const DECODE: Readonly<Record<Encoding, (bytes: Uint8Array) => Uint8Array>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
}

async function buildOf(
  { deployer }: DeployHarness,
  files = FILES,
  config = {},
): Promise<{ readonly world: DeployWorld; readonly manifest: Manifest }> {
  const world = createWorld()
  return { world, manifest: await deployer.build(world.task(files, config), world.tools) }
}

const manifestCases: readonly DeployCase[] = [
  {
    name: 'build: every file that is for everybody is served under its path, as it is',
    async run(harness) {
      const { world, manifest } = await buildOf(harness)
      const paths = Object.keys(FILES).filter((path) => !path.endsWith('.map'))
      for (const path of paths) {
        const file = manifest.files.get(path)
        const bytes = world.kept.get(file?.sha256 ?? '')
        assert.equal(file?.path, path)
        assert.deepEqual(bytes && Buffer.from(bytes), Buffer.from(FILES[path] ?? ''), path)
        assert.equal(file.size, bytes?.length)
      }
    },
  },
  {
    name: 'build: what is hidden and what tells of the source is served to nobody',
    async run(harness) {
      const secret = { '.env': 'KEY=1', 'a/.git/config': 'x', 'b/.well': 'x' }
      const { manifest } = await buildOf(harness, { ...FILES, ...secret })
      for (const path of [...Object.keys(secret), 'assets/app-BfX3k9aQ.js.map']) {
        assert.equal(manifest.files.has(path), false, path)
      }
    },
  },
  {
    name: 'build: pages, styles and scripts are told as what they are, and what is not known as bytes',
    async run(harness) {
      const { manifest } = await buildOf(harness)
      const typeOf = (path: string) => manifest.files.get(path)?.type.replaceAll(' ', '')
      assert.equal(typeOf('index.html'), 'text/html;charset=utf-8')
      assert.equal(typeOf('größe/ü.css'), 'text/css;charset=utf-8')
      assert.equal(typeOf('assets/app-BfX3k9aQ.js'), 'text/javascript;charset=utf-8')
      assert.equal(typeOf('__proto__'), 'application/octet-stream')
    },
  },
  {
    name: 'build: only a name that changes with its content lasts for ever',
    async run(harness) {
      const { manifest } = await buildOf(harness)
      const lasting = [...manifest.files.values()].filter(({ immutable }) => immutable)
      for (const { path } of lasting) assert.match(path, /BfX3k9aQ/)
    },
  },
  {
    name: 'build: other forms of a file are kept, smaller, and hold the same',
    async run(harness) {
      const { world, manifest } = await buildOf(harness)
      for (const file of manifest.files.values()) {
        const own = world.kept.get(file.sha256) ?? new Uint8Array()
        for (const encoding of ENCODINGS) {
          const form = file.encoded[encoding]
          if (form === undefined) continue
          const bytes = world.kept.get(form.sha256) ?? new Uint8Array()
          assert.equal(bytes.length, form.size)
          assert.ok(form.size < file.size, `${file.path} is smaller by ${encoding}`)
          assert.ok(Buffer.from(own).equals(DECODE[encoding](bytes)), file.path)
        }
      }
    },
  },
  {
    name: 'build: an app that routes by itself says so in its configuration, and only so',
    async run(harness) {
      const spa = async (config: object) => (await buildOf(harness, FILES, config)).manifest.spa
      assert.equal(await spa({}), false)
      assert.equal(await spa({ spa_fallback: 'true' }), true)
      assert.equal(await spa({ spa_fallback: 'false' }), false)
    },
  },
  {
    name: 'build: an app whose owner opted out of the error beacon says so, and no other',
    async run(harness) {
      const observe = async (config: object) =>
        readManifest(printManifest((await buildOf(harness, FILES, config)).manifest)).observe
      assert.equal(await observe({ observe: 'off' }), false)
      assert.notEqual(await observe({ observe: 'on' }), false)
      assert.notEqual(await observe({}), false)
    },
  },
  {
    name: 'build: the same task gives the same manifest, and it is read as it was printed',
    async run(harness) {
      const { manifest } = await buildOf(harness)
      const reversed = Object.fromEntries(Object.entries(FILES).reverse())
      const again = await buildOf(harness, reversed)
      assert.equal(printManifest(again.manifest), printManifest(manifest))
      const read = readManifest(printManifest(manifest))
      assert.deepEqual(read.files, manifest.files)
      assert.equal(read.spa, manifest.spa)
    },
  },
]

const workCases: readonly DeployCase[] = [
  {
    name: 'build: what was made of a file before may be used, and the same is served',
    async run(harness) {
      const { world, manifest } = await buildOf(harness)
      const forms = new Map(
        [...manifest.files.values()].map(({ sha256, encoded }) => [sha256, encoded]),
      )
      const again = await harness.deployer.build({ ...world.task(FILES), forms }, world.tools)
      assert.equal(printManifest(again), printManifest(manifest))
      const changed = { ...FILES, 'index.html': '<p>Changed</p>\n'.repeat(300) }
      const next = await harness.deployer.build({ ...world.task(changed), forms }, world.tools)
      const anew = await harness.deployer.build(world.task(changed), world.tools)
      assert.equal(printManifest(next), printManifest(anew))
    },
  },
  {
    name: 'build: nothing but what nobody is served makes no release',
    async run({ deployer }) {
      const world = createWorld()
      const task = world.task({ '.env': 'KEY=1', 'app.js.map': '{}' })
      await assert.rejects(deployer.build(task, world.tools), { code: 'nothing_to_serve' })
    },
  },
  {
    name: 'build: one that was canceled before it began is not begun',
    async run({ deployer }) {
      const reason = new Error('not wanted any more')
      const world = createWorld({ signal: AbortSignal.abort(reason) })
      const work = deployer.build(world.task(FILES), world.tools)
      await assert.rejects(work, (error) => error === reason)
    },
  },
  {
    name: 'build: works on several at once that do not mix',
    async run(harness) {
      const names = ['a', 'b', 'c', 'd']
      const built = await Promise.all(
        names.map((name) => buildOf(harness, { 'index.html': `<p>${name.repeat(9000)}</p>` })),
      )
      for (const [index, { world, manifest }] of built.entries()) {
        const file = manifest.files.get('index.html')
        const text = Buffer.from(world.kept.get(file?.sha256 ?? '') ?? []).toString()
        assert.equal(text, `<p>${(names[index] ?? '').repeat(9000)}</p>`)
      }
    },
  },
  {
    name: 'build: how far it is never falls, nor goes beyond what there is',
    async run(harness) {
      const { world } = await buildOf(harness)
      world.told.reduce((before, [done, total]) => {
        assert.ok(before <= done && done <= total)
        return done
      }, 0)
    },
  },
]

/** What is made of an app's files. */
export const buildCases: readonly DeployCase[] = [...manifestCases, ...workCases]
