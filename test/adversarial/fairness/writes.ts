import { request } from 'node:http'
import type { Test } from 'tap'
import type { AccountRecord } from '../../../plugins/store/contract/accounts.ts'
import { until } from '../../support/daemon.ts'
import { signal } from '../../support/signal.ts'
import { register, shopWorld } from '../../support/webhooks.ts'
import type { AnyBody } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const RECEIVER = 'http://127.0.0.1:9/in'
/** In the queue of writes. */
const WAITING = 2000
const AT_ONCE = 2

/** Two accounts with a webhook each, whose units of work begin and then wait until `open`. */
async function openWrites(t: Test) {
  const world = await shopWorld(t)
  const { platform } = world
  const begun: string[] = []
  let asked = 0
  let isHeld = false
  const { promise: opened, resolve: open } = signal()
  t.teardown(async () => open())
  const { writes } = platform.queues
  Object.assign(platform.queues, {
    writes: ((turn, work) => {
      if (!isHeld) return writes(turn, work)
      asked += 1
      return writes(turn, async () => {
        begun.push(turn.holder)
        await opened
        return work()
      })
    }) satisfies typeof writes,
  })
  const add = async (account: AccountRecord) => {
    const as = world.userOf(account)
    const { id } = await register(world, { url: RECEIVER }, as)
    const path = `/v1/webhooks/${id}`
    return {
      as,
      path,
      holder: account.id,
      change: () =>
        world.request<AnyBody>('PATCH', path, { as, body: { description: `change ${asked}` } }),
      mint: (key: string) =>
        world.request<AnyBody>('POST', '/v1/keys', {
          as,
          body: { name: key, scopes: ['apps:read'] },
          headers: { 'idempotency-key': key },
        }),
    }
  }
  const first = await add(world.account)
  const second = await add(await world.addAccount())
  return {
    world,
    begun,
    first,
    second,
    open,
    hold: () => (isHeld = true),
    arrive: (count: number) => until(`${count} writes have come`, () => asked >= count),
  }
}

export const WRITE_CHECKS: Checks = {
  async F44(t, saw) {
    const { begun, first, second, open, hold, arrive } = await openWrites(t)
    hold()
    const flood = [
      ...Array.from({ length: 20 }, first.change),
      ...Array.from({ length: 20 }, (_, at) => first.mint(`key-${at}`)),
    ]
    await arrive(40)
    const other = second.change()
    await arrive(41)
    open()
    const statuses = new Set((await Promise.all(flood)).map(({ status }) => status))
    t.same(statuses, new Set([200, 201]))
    t.equal((await other).status, 200)
    const at = begun.indexOf(second.holder) + 1
    saw(at > 0 && at <= AT_ONCE + 2 ? 'among the first four' : `as number ${at}`)
  },

  async F45(t, saw) {
    const { world, first, second, open, hold, arrive } = await openWrites(t)
    hold()
    const refusalOf = ({ status, body }: Awaited<ReturnType<typeof first.change>>): string =>
      `${status} ${(body['error'] as { code: string }).code}`
    const turn = { holder: first.holder }
    const flood = Array.from({ length: WAITING + AT_ONCE - 1 }, () =>
      world.platform.queues.writes(turn, async () => undefined),
    )
    const newest = first.change()
    await arrive(flood.length + 1)
    const refused = await first.change()
    saw(refusalOf(refused))
    t.equal(refused.headers.get('retry-after'), '2')
    const other = second.change()
    await arrive(flood.length + 3)
    saw(refusalOf(await newest))
    open()
    saw(`${(await other).status} to another account`)
    await Promise.all(flood)
  },

  async F46(t, saw) {
    const { world, begun, first, open, hold, arrive } = await openWrites(t)
    const { key } = await world.mintKey({ scopes: ['webhooks:*'] })
    hold()
    const flood = Array.from({ length: AT_ONCE }, first.change)
    await arrive(AT_ONCE)
    const leaving = request(new URL(first.path, world.baseUrl), {
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      agent: false,
    })
    leaving.on('error', () => undefined)
    leaving.end(JSON.stringify({ description: 'left' }))
    await arrive(AT_ONCE + 1)
    const { bodies } = world.traffic
    const held = bodies.heldBy(first.holder)
    leaving.destroy()
    await until('its body is released', () => bodies.heldBy(first.holder) < held)
    open()
    await Promise.all(flood)
    saw(begun.length === AT_ONCE ? 'not begun' : 'begun')
    const { body } = await world.request<AnyBody>('GET', first.path, { as: first.as })
    t.not(body['description'], 'left')
  },
}
