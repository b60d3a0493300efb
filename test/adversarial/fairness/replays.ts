import { request } from 'node:http'
import type { Test } from 'tap'
import type { AccountRecord } from '../../../plugins/store/contract/accounts.ts'
import { until } from '../../support/daemon.ts'
import { signal } from '../../support/signal.ts'
import { register, shopWorld } from '../../support/webhooks.ts'
import type { AnyBody } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const DRY_RUN = { since: '2026-01-01T00:00:00Z', dry_run: true }
const RECEIVER = 'http://127.0.0.1:9/in'

/** Two accounts with a webhook each, whose reads of past events wait until `open`. */
async function openReplays(t: Test) {
  const world = await shopWorld(t)
  const { events } = world.platform.store
  const begun: string[] = []
  let asked = 0
  const { promise: opened, resolve: open } = signal()
  const list: typeof events.list = async (query) => {
    begun.push(query.account_id)
    await opened
    const page = await events.list(query)
    return { ...page, more: page.more || isEndless }
  }
  let isEndless = false
  let ended = 0
  const { replays } = world.platform.queues
  Object.assign(world.platform.store, { events: { ...events, list } })
  Object.assign(world.platform.queues, {
    replays: ((turn, work) => {
      asked += 1
      return replays(turn, work).finally(() => (ended += 1))
    }) satisfies typeof replays,
  })
  const add = async (account: AccountRecord) => {
    const as = world.userOf(account)
    const { id } = await register(world, { url: RECEIVER }, as)
    const path = `/v1/webhooks/${id}/replay`
    return {
      account,
      path,
      replay: () => world.request<AnyBody>('POST', path, { as, body: DRY_RUN }),
    }
  }
  return {
    world,
    begun,
    first: await add(world.account),
    second: await add(await world.addAccount()),
    open,
    arrive: (count: number) => until(`${count} replays have come`, () => asked >= count),
    /** From now on there is always one more page of past events. */
    keepOn: () => (isEndless = true),
    ended: () => ended,
  }
}

export const REPLAY_CHECKS: Checks = {
  async F33(t, saw) {
    const { begun, first, second, open, arrive } = await openReplays(t)
    const refusalOf = ({ status, body }: Awaited<ReturnType<typeof first.replay>>): string =>
      `${status} ${(body['error'] as { code: string }).code}`
    const flood = Array.from({ length: 202 }, first.replay)
    await arrive(202)
    saw(refusalOf(await first.replay()))
    const other = second.replay()
    await arrive(204)
    t.same(new Set(begun), new Set([first.account.id]))
    saw(`${begun.length} at once`)
    open()
    saw(`${(await other).status} to another account`)
    if (begun[2] === second.account.id) saw('the next place')
    const [dropped, ...more] = (await Promise.all(flood)).filter(({ status }) => status !== 202)
    if (dropped !== undefined) saw(refusalOf(dropped))
    t.same(more, [])
  },

  async F34(t, saw) {
    const { world, begun, first, open, keepOn, ended } = await openReplays(t)
    keepOn()
    open()
    const { key } = await world.mintKey({ scopes: ['webhooks:*'] })
    const asking = request(new URL(first.path, world.baseUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    asking.on('error', () => undefined)
    asking.end(JSON.stringify(DRY_RUN))
    await until('several pages are read', () => begun.length > 3)
    asking.destroy()
    await until('the replay ends', () => ended() === 1)
    saw('ends')
  },
}
