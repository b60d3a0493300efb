import { appsFamily } from '../../daemon/families/apps/family.ts'
import { deployFamily } from '../../daemon/families/deploy/family.ts'
import { createDeployHandler } from '../../daemon/families/deploy/run.ts'
import { editsFamily } from '../../daemon/families/edits/family.ts'
import { runJobs, jobTimes } from '../../daemon/jobs/runner.ts'
import type { JobTimes } from '../../daemon/jobs/runner.ts'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import type { Deployer } from '../../plugins/deploy/contract.ts'
import { createMemoryDeployer } from '../../plugins/deploy/memory.ts'
import { until } from './daemon.ts'
import { createApp, eventsOf } from './edits.ts'
import type { AnyBody, Answer, World, WorldOptions } from './world.ts'
import { createWorld } from './world.ts'

export interface Deployment extends AnyBody {
  readonly id: string
  readonly status: string
  readonly release: number
}

/** A world with apps, edits and deployments. */
export function deployWorld(
  t: Parameters<typeof createWorld>[0],
  options: WorldOptions = {},
): Promise<World> {
  const families = [appsFamily, editsFamily, deployFamily, webhooksFamily]
  return createWorld(t, { families, ...options })
}

/** A worker of its own, which the test may stop before its end. */
export function startDeployer(
  t: { teardown(handler: () => Promise<void>): void },
  world: Pick<World, 'platform'>,
  times: Partial<JobTimes> = {},
): { stop(): Promise<void> } {
  const log = createLog('silent')
  const worker = runJobs(
    world.platform,
    log,
    createDeployHandler,
    { ...jobTimes('deployment'), ...times },
    50,
  )
  t.teardown(() => worker.stop())
  return worker
}

export function publish(
  world: World,
  app: string,
  body: AnyBody = {},
  query = '',
): Promise<Answer<Deployment>> {
  return world.request<Deployment>('POST', `/v1/apps/${app}/deploy/publish${query}`, { body })
}

export function rollBack(
  world: World,
  app: string,
  body: AnyBody = {},
  query = '?wait=25',
): Promise<Answer<Deployment>> {
  return world.request<Deployment>('POST', `/v1/apps/${app}/deploy/rollback${query}`, { body })
}

/** Makes another revision of an app, in which a file holds this. */
export async function change(world: World, app: string, content: string): Promise<number> {
  const { body } = await world.request('GET', `/v1/apps/${app}`)
  const base_revision = body['current_revision']
  const operations = [{ op: 'write', path: 'index.html', content }]
  const edit = await world.request('POST', `/v1/apps/${app}/edits`, {
    body: { operations, base_revision },
  })
  if (edit.status !== 201) throw new Error(`not changed: ${JSON.stringify(edit.body)}`)
  return Number(edit.body['result_revision'])
}

/** An app that is published, once for each of these contents. */
export async function publishedApp(
  world: World,
  ...contents: readonly string[]
): Promise<{ readonly id: string; readonly releases: readonly Deployment[] }> {
  const { id } = await createApp(world)
  const releases: Deployment[] = []
  for (const content of contents) {
    await change(world, id, content)
    const { body } = await publish(world, id, {}, '?wait=25')
    if (body.status !== 'live') throw new Error(`not live: ${JSON.stringify(body)}`)
    releases.push(body)
    await untilTold(world, body.id)
  }
  return { id, releases }
}

/** Waits until it was told of that a deployment is live, or is not going to be. */
export function untilTold(world: World, id: string): Promise<void> {
  return until(`${id} is told of`, async () =>
    (await eventsOf(world)).some(({ data }) => data['deployment_id'] === id),
  )
}

/** What was told of an app's deployments, oldest first, as `<type> <deployment>`. */
export async function toldOf(world: World, app: string): Promise<readonly string[]> {
  return (await eventsOf(world))
    .filter(({ type, app_id }) => app_id === app && TYPES.has(type))
    .map(({ type, data }) => `${type} ${String(data['deployment_id'])}`)
}

const TYPES = new Set(['app.deployed', 'app.rolled_back', 'app.unpublished', 'app.deploy_failed'])

/** A deployer whose builds, or activations, wait until they are let, or fail; it notes what it was asked for. */
export function createHeldDeployer(step: 'build' | 'activate' = 'build') {
  const begun: string[] = []
  const aborted: string[] = []
  const held: ((fault?: unknown) => void)[] = []
  const plain = createMemoryDeployer()
  async function hold(id: string, signal: AbortSignal): Promise<void> {
    begun.push(id)
    signal.addEventListener('abort', () => aborted.push(id))
    await new Promise<void>((resolve, reject) => {
      held.push((fault) => (fault === undefined ? resolve() : reject(fault as Error)))
    })
  }
  const deployer: Deployer = {
    ...plain,
    async build(task, tools) {
      if (step === 'build') await hold(task.deployment_id, tools.signal)
      return plain.build(task, tools)
    },
    async activate(release, tools) {
      if (step === 'activate') await hold(release.deployment_id, tools.signal)
      return plain.activate(release, tools)
    },
  }
  return {
    deployer,
    begun,
    aborted,
    untilBegun: (count = 1) => until(`${count} builds are begun`, () => begun.length >= count),
    /** Lets the build that has waited longest go on, or fail. */
    release(fault?: unknown): void {
      held.shift()?.(fault)
    },
  }
}
