import type { Test } from 'tap'
import { appsFamily } from '../../../daemon/families/apps/family.ts'
import { deployFamily } from '../../../daemon/families/deploy/family.ts'
import { editsFamily } from '../../../daemon/families/edits/family.ts'
import { observeFamily } from '../../../daemon/families/observe/family.ts'
import { SECOND } from '../../../lib/time.ts'
import { createMemoryEditor } from '../../../plugins/edits/memory.ts'
import { addLines, idAt, sampleLine } from '../../platform/observation-samples.ts'
import type { AccessLine } from '../../../plugins/platform/contract/observations.ts'
import { createClock } from '../../support/clock.ts'
import { until } from '../../support/daemon.ts'
import { publish } from '../../support/deploys.ts'
import { ask, createApp } from '../../support/edits.ts'
import { observedWorld } from '../../support/observed.ts'
import { signal } from '../../support/signal.ts'
import type { OpenStream } from '../../support/stream.ts'
import { openStream } from '../../support/stream.ts'
import type { World } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const LINES = 1000
const STREAMS = 20
/** Reads for streams and long polls. */
const AT_ONCE = 4

/** An account with an app and a key that reads its log. */
async function logOf(world: World, account: World['account']) {
  const user = world.userOf(account)
  const made = { as: user, body: { template_id: 'blank' } }
  const { id } = (await world.request<{ id: string }>('POST', '/v1/apps', made)).body
  const { key } = await world.mintKey({ scopes: ['observe:read'] }, user)
  return {
    id,
    /** Adds lines, the mark of each in its path. */
    add: (from: number, to: number, kind: AccessLine['kind'] = 'published') =>
      addLines(
        world.platform.store,
        ...Array.from({ length: to - from + 1 }, (_, index) => {
          const line = sampleLine(from + index, { app_id: id, kind, path: `/${from + index}` })
          return { ...line, id: idAt(line.at) }
        }),
      ),
    /** Opens streams from the beginning of the log. */
    open: (count: number, query = ''): Promise<readonly OpenStream[]> =>
      Promise.all(
        Array.from({ length: count }, () =>
          openStream(`${world.baseUrl}/v1/apps/${id}/logs/follow${query}`, key, '0'),
        ),
      ),
  }
}

/** Counts what is read of the log of an app, the first reads of which wait for `opened`. */
function watchTail({ platform }: World, appId: string, opened: Promise<void>, held = 1) {
  const { observations } = platform.store
  const seen = { reads: 0, lines: 0, most: 0 }
  let underWay = 0
  const tail: typeof observations.tail = async (asked) => {
    if (asked.app_id !== appId) return observations.tail(asked)
    seen.reads += 1
    underWay += 1
    seen.most = Math.max(seen.most, underWay)
    if (seen.reads <= held) await opened
    const lines = await observations.tail(asked)
    underWay -= 1
    seen.lines += lines.length
    return lines
  }
  Object.assign(platform.store, { observations: { ...observations, tail } })
  return seen
}

async function twoLogs(t: Test) {
  const world = await observedWorld(t)
  const log = await logOf(world, world.account)
  const other = await logOf(world, await world.addAccount())
  await log.add(1, LINES)
  await other.add(1, 1)
  return { world, log, other }
}

function leaveAll(streams: readonly OpenStream[]): void {
  for (const { leave } of streams) leave()
}

/** Resolves once the daemon knows that every client of a response has left. */
const untilLeft = ({ traffic }: World): Promise<void> =>
  until('every client has left', () => traffic.responses.used === 0)

/** What is followed or waited for, and how often it was looked at. */
async function quietWorld(t: Test) {
  const clock = createClock(Date.parse('2026-01-31T12:00:00Z'))
  const families = [appsFamily, editsFamily, deployFamily, observeFamily]
  const world = await createWorld(t, { clock, families, editor: createMemoryEditor() })
  const { id: app } = await createApp(world)
  const { body: edit } = await ask(world, app, 'wait')
  const { body: deployment } = await publish(world, app)
  const { key } = await world.mintKey({ scopes: ['observe:read', 'edits:read', 'deploy:read'] })
  const { store } = world.platform
  const { apps, observations, edits, deployments } = store
  let reads = 0
  const counted = <Asked extends readonly unknown[], T>(read: (...asked: Asked) => T) => {
    return (...asked: Asked): T => {
      reads += 1
      return read(...asked)
    }
  }
  Object.assign(store, {
    apps: { ...apps, exists: counted(apps.exists) },
    observations: { ...observations, tail: counted(observations.tail) },
    edits: { ...edits, get: counted(edits.get) },
    deployments: { ...deployments, get: counted(deployments.get) },
  })
  const editPath = `/v1/apps/${app}/edits/${edit.id}`
  const deploymentPath = `/v1/apps/${app}/deployments/${deployment.id}`
  return {
    world,
    key,
    streams: {
      log: `/v1/apps/${app}/logs/follow`,
      edit: `${editPath}/events`,
      deployment: `${deploymentPath}/events`,
    },
    waits: { edit: `${editPath}/status?wait=25`, deployment: `${deploymentPath}?wait=25` },
    /** Resolves once it was looked at, and the next look waits for the clock. */
    looked: async () => {
      await until('it is looked at', () => reads > 0)
      await clock.advance(0)
    },
    /** How often it is looked at within some seconds, once all have left. */
    async readsAfter() {
      await untilLeft(world)
      reads = 0
      await clock.advance(3 * SECOND)
      return reads
    },
  }
}

export const FOLLOW_CHECKS: Checks = {
  async F56(t, saw) {
    const { world, log } = await twoLogs(t)
    const seen = watchTail(world, log.id, Promise.resolve())
    const streams = await log.open(5, '?env=preview')
    await log.add(LINES + 1, LINES + 1, 'preview')
    for (const stream of streams) await stream.until(`"/${LINES + 1}"`)
    saw(`${seen.lines / streams.length} line read`)
    leaveAll(streams)
  },

  async F57(t, saw) {
    const { world, log, other } = await twoLogs(t)
    const { promise: opened, resolve: open } = signal()
    t.teardown(async () => open())
    const seen = watchTail(world, log.id, opened)
    const streams = await log.open(STREAMS)
    await until('one is read', () => seen.reads > 0)
    const [stranger] = await other.open(1)
    await stranger?.until('"/1"')
    saw('a line to another account')
    open()
    for (const stream of streams) await stream.until(`"/${LINES}"`)
    saw(`${seen.most} reads at a time`)
    leaveAll(streams)
    stranger?.leave()
  },

  async F58(t, saw) {
    const { world, log } = await twoLogs(t)
    const { promise: opened, resolve: open } = signal()
    t.teardown(async () => open())
    const seen = watchTail(world, log.id, opened, AT_ONCE)
    const streams = await log.open(STREAMS, '?env=preview')
    await until('as many are read as may', () => seen.reads === AT_ONCE)
    leaveAll(streams)
    await untilLeft(world)
    open()
    // Reads of the account that waited for their turn come first.
    await world.platform.queues.polls({ holder: world.account.id }, async () => undefined)
    saw(`${seen.reads} reads`)
  },

  async F59(t, saw) {
    const { world, key, streams, looked, readsAfter } = await quietWorld(t)
    for (const [what, path] of Object.entries(streams)) {
      const stream = await openStream(world.baseUrl + path, key)
      await stream.until('retry')
      await looked()
      stream.leave()
      saw(`${await readsAfter()} reads of the ${what}`)
    }
  },

  async F60(t, saw) {
    const { world, key, waits, looked, readsAfter } = await quietWorld(t)
    for (const [what, path] of Object.entries(waits)) {
      const leaving = new AbortController()
      const headers = { authorization: `Bearer ${key}` }
      const asked = fetch(world.baseUrl + path, { headers, signal: leaving.signal })
      await looked()
      leaving.abort()
      await asked.catch(() => undefined)
      saw(`${await readsAfter()} reads of the ${what}`)
    }
  },
}
