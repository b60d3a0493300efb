import type { Test } from 'tap'
import type { NewEvent } from '../../../lib/engine/ports.ts'
import { KeyhookError, kernelError } from '../../../lib/errors.ts'
import { turn } from '../../support/clock.ts'
import { createBench } from '../../support/engine.ts'
import { signal } from '../../support/signal.ts'
import type { Checks } from '../run.ts'

const MIB = 1_048_576
const EVENT_TYPE = 'order.paid'
/** With their deliveries, more than a group takes beside others. */
const EVENTS = 60
const WEBHOOKS = 10

/** An engine whose first group is being committed until `open`, and the accounts of each of its groups. */
async function openHeld(t: Test, ...accounts: readonly string[]) {
  const bench = await createBench(t)
  for (const account_id of accounts) {
    for (let at = 0; at < WEBHOOKS; at += 1) await bench.addWebhook(`w${at}`, { account_id })
  }
  const groups: string[] = []
  const { promise: opened, resolve: open } = signal()
  t.teardown(async () => open())
  const { publish } = bench.watched.store
  const { outbox } = bench.rebuild({
    publish: async (build) => {
      const outcomes = await publish(() => {
        const group = build()
        groups.push([...new Set(group.map(({ event }) => event.account_id))].join(' '))
        return group
      })
      await opened
      return outcomes
    },
  })
  return {
    groups,
    open,
    publish: (account: string, count: number) =>
      outbox.publish(Array.from({ length: count }, () => bench.event(EVENT_TYPE, account))),
    begun: async () => {
      while (groups.length === 0) await turn()
    },
    /** Resolves once the webhooks of the accounts that wait are read. */
    read: bench.quiet,
  }
}

export const PUBLISHING_CHECKS: Checks = {
  async F35(t, saw) {
    const { groups, open, begun, read, publish } = await openHeld(t, 'a')
    const calls = [publish('a', 1)]
    await begun()
    for (let count = 0; count < 20; count += 1) calls.push(publish('a', EVENTS))
    calls.push(publish('b', 1))
    await read()
    open()
    await Promise.all(calls)
    saw(groups.indexOf('b') === 1 ? 'in the next group' : `in group ${groups.indexOf('b')}`)
    t.equal(groups.length, 22, 'each large call is a group of its own')
  },

  async F36(t, saw) {
    const { groups, open, begun, read, publish } = await openHeld(t, 'a', 'b')
    const calls = [publish('c', 1)]
    await begun()
    calls.push(publish('a', EVENTS), publish('b', EVENTS), publish('c', 1), publish('d', 1))
    await read()
    open()
    await Promise.all(calls)
    saw(groups.join(', '))
  },

  async F37(t, saw) {
    const bench = await createBench(t)
    const { promise: opened, resolve: open } = signal()
    bench.watched.before.publish = async () => {
      await opened
      throw kernelError('unavailable', { internal: 'disk full' })
    }
    const { outbox } = bench.engine
    const body = new Uint8Array(MIB)
    const large = (account: string): NewEvent => ({ ...bench.event(EVENT_TYPE, account), body })
    const codeOf = (cause: unknown): string =>
      cause instanceof KeyhookError ? cause.code : String(cause)
    const refused: string[] = []
    const publish = (account: string, at: number): Promise<unknown> =>
      outbox.publish([large(account)]).catch((cause: unknown) => {
        if (codeOf(cause) === 'rate_limited') refused.push(`${account}${at}`)
      })
    const calls = Array.from({ length: 63 }, (_, at) => publish('a', at))
    await turn()
    t.same(refused, [], 'one account may use all of it')
    calls.push(publish('b', 0), publish('b', 1))
    await turn()
    t.same(refused, ['a62', 'a61'])
    saw('rate_limited')
    saw(refused.some((call) => call.startsWith('b')) ? 'refused' : 'waits')
    open()
    await Promise.all(calls)
  },
}
