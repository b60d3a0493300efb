import { MINUTE, SECOND, toIso } from '../../../lib/time.ts'
import { createMemoryEditor } from '../../../plugins/edits/memory.ts'
import { createClock } from '../../support/clock.ts'
import { until } from '../../support/daemon.ts'
import { createApp, editWorld } from '../../support/edits.ts'
import { signal } from '../../support/signal.ts'
import { register, shopWorld } from '../../support/webhooks.ts'
import type { World } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import { sendTwins, tell } from './waiting.ts'

const START = Date.UTC(2026, 0, 31)

/** Apps that bytes are put for, in the order of their first ones. */
function watchPuts({ platform }: World, also: (app: string) => Promise<void>): Set<string> {
  const { appBytes } = platform.plugins
  if (appBytes === undefined) throw new Error('no bytes')
  const { put } = appBytes
  const apps = new Set<string>()
  Object.assign(appBytes, {
    put: async (app, ...given) => {
      apps.add(app)
      await also(app)
      return put(app, ...given)
    },
  } satisfies Partial<typeof appBytes>)
  return apps
}

export const TWIN_CHECKS: Checks = {
  async F50(t, saw) {
    const world = await editWorld(t)
    const { id } = await createApp(world)
    const copies = watchPuts(world, async () => undefined)
    const count = async () => (await world.platform.store.apps.count(world.account.id)).live
    const twins = await sendTwins(world, `/v1/apps/${id}/clone`, {}, count)
    saw(`${copies.size} copy`)
    tell(saw, twins)
    t.equal(new Set(twins.map(({ body }) => body.id)).size, 1)
  },

  async F51(t, saw) {
    const world = await editWorld(t, createMemoryEditor())
    const { platform } = world
    const { applying } = platform.queues
    let running = 0
    let most = 0
    let turns = 0
    let asked = 0
    Object.assign(platform.queues, {
      applying: ((turn, work) => {
        asked += 1
        return applying(turn, async () => {
          turns += 1
          running += 1
          most = Math.max(most, running)
          await until('all have come', () => asked === 10)
          return work().finally(() => (running -= 1))
        })
      }) satisfies typeof applying,
    })
    watchPuts(world, async () => {
      t.ok(running > 0, 'files are kept in a turn')
    })
    const files = [{ path: 'a.txt', content: 'a' }]
    const made = await Promise.all(
      Array.from({ length: 10 }, () =>
        world.request('POST', '/v1/apps', { body: { prompt: '[]', files } }),
      ),
    )
    t.equal(turns, 10)
    saw(`${most} apps at a time`)
    saw(`${made.filter(({ status }) => status === 202).length} times 202`)
  },

  async F52(t, saw) {
    const clock = createClock(START)
    const world = await shopWorld(t, { clock })
    const { platform } = world
    const webhook = await register(world, { url: 'http://127.0.0.1:9/in' })
    await clock.advance(SECOND)
    const { promise: held, resolve: letGo } = signal()
    t.teardown(async () => letGo())
    let begun = 0
    Object.assign(platform.queues, {
      replays: (async (_turn, work) => {
        begun += 1
        if (begun === 1) await held
        return work()
      }) satisfies typeof platform.queues.replays,
    })
    const replay = () =>
      world.request('POST', `/v1/webhooks/${webhook.id}/replay`, {
        body: { since: toIso(START) },
        headers: { 'idempotency-key': 'once' },
      })
    const first = replay()
    await until('it runs', () => begun === 1)
    for (let passed = 0; passed < 2 * MINUTE; passed += SECOND) {
      await clock.advance(SECOND)
      await platform.store.write(() => Promise.resolve())
    }
    const again = await replay()
    const { code } = (again.body['error'] ?? {}) as { readonly code?: string }
    saw(`${again.status} ${code}`)
    letGo()
    t.equal((await first).status, 202)
    saw(begun === 1 ? 'done once' : `done ${begun} times`)
  },
}
