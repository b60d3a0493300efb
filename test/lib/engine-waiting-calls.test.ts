import t from 'tap'
import type { WaitingCall, WaitingLimits } from '../../lib/engine/waiting-calls.ts'
import { EVENT_BYTES, createWaitingCalls } from '../../lib/engine/waiting-calls.ts'

interface TestCall extends WaitingCall {
  readonly name: string
  readonly rows: number | 'unknown'
}

/** Calls named by their account and number, such as `a1`. */
function createCalls(limits?: WaitingLimits) {
  const rejected: string[] = []
  const calls = createWaitingCalls<TestCall>(
    ({ rows }) => (rows === 'unknown' ? undefined : rows),
    limits,
  )
  function add(name: string, rows: number | 'unknown' = 1, given: Partial<TestCall> = {}): void {
    const reject = (cause: unknown): void => {
      rejected.push(`${name} ${(cause as { code: string }).code}`)
    }
    const account = name.slice(0, 1)
    calls.add({ name, account, rows, events: ['event'], bytes: 0, alone: false, reject, ...given })
  }
  return {
    calls,
    rejected,
    add(names: string, ...given: [rows?: number | 'unknown', given?: Partial<TestCall>]) {
      for (const name of names.split(' ')) add(name, ...given)
    },
    take: () =>
      calls
        .take()
        .map(({ name }) => name)
        .join(' '),
  }
}

await t.test('calls of one account share a group, oldest first', async (t) => {
  const { calls, add, take } = createCalls({ groupRows: 3 })
  add('a1 a2 a3 a4')
  t.equal(take(), 'a1 a2 a3')
  t.equal(take(), 'a4')
  t.ok(calls.isEmpty)
  t.equal(take(), '')
})

await t.test('a group takes one call of each account in turn', async (t) => {
  const { add, take } = createCalls({ groupRows: 4 })
  add('a1 a2 a3 a4 a5 b1 b2 c1')
  t.equal(take(), 'a1 b1 c1 a2')
  t.equal(take(), 'b2 a3 a4 a5')
})

await t.test('an account that comes while a group commits is first in the next one', async (t) => {
  const { add, take } = createCalls({ groupRows: 4 })
  add('a1 a2 a3', 100)
  t.equal(take(), 'a1')
  add('b1')
  t.equal(take(), 'b1', 'the call of 100 does not fit beside it')
  add('b2 c1')
  t.equal(take(), 'a2', 'alone in its group')
  t.equal(take(), 'c1 b2', 'who was served in the last group comes last')
  t.equal(take(), 'a3')
})

await t.test('a group is bounded by rows and by bytes, and one call always fits', async (t) => {
  const { add, take } = createCalls({ groupRows: 10, groupBytes: 100 })
  add('a1', 11, { bytes: 1 })
  add('b1 b2', 1, { bytes: 60 })
  add('c1', 1, { bytes: 101 })
  add('d1', 9, { bytes: 40 })
  t.equal(take(), 'a1')
  t.equal(take(), 'b1 d1')
  t.equal(take(), 'c1')
  t.equal(take(), 'b2')
})

await t.test('calls whose webhooks are not known keep waiting and their turn', async (t) => {
  const { calls, add, take } = createCalls({ groupRows: 2 })
  add('a1', 'unknown')
  const [waits] = calls.of('a')
  add('b1 b2 b3')
  t.equal(take(), 'b1 b2')
  Object.assign(waits ?? {}, { rows: 2 })
  t.equal(take(), 'a1')
  t.equal(take(), 'b3')
})

await t.test('calls that are put back come before others of their account', async (t) => {
  const { calls, add, take } = createCalls()
  add('a1 a2 b1')
  const taken = calls.take()
  add('a3 c1')
  calls.putBack(taken.map((call) => ({ ...call, alone: true })))
  t.equal(take(), 'c1', 'an account that has not failed is not delayed')
  t.equal(take(), 'b1')
  t.equal(take(), 'a1')
  t.equal(take(), 'a2')
  t.equal(take(), 'a3')
})

await t.test('calls that are removed are not taken', async (t) => {
  const { calls, add, take } = createCalls({ waitingBytes: 4 * EVENT_BYTES })
  add('a1 b1 a2')
  calls.remove(calls.of('a'))
  t.same(calls.accounts, ['b'])
  add('a3 a4 a5')
  t.equal(take(), 'b1 a3 a4 a5', 'they do not count either')
})

await t.test('who has most waiting gives way, the newest call first', async (t) => {
  const { rejected, add, take } = createCalls({ waitingBytes: 4 * EVENT_BYTES })
  add('a1 a2 a3 a4')
  t.same(rejected, [], 'one account may use all of it')
  add('a5')
  t.same(rejected, ['a5 rate_limited'])
  add('b1 b2')
  t.same(rejected.slice(1), ['a4 rate_limited', 'a3 rate_limited'])
  add('b3')
  t.same(rejected.slice(3), ['b3 rate_limited'], 'of equals the newcomer')
  t.equal(take(), 'a1 b1 a2 b2')
  add('a6 a7 a8 a9')
  t.equal(rejected.length, 4, 'what was taken does not count')
})

await t.test('bytes, events and deliveries count', async (t) => {
  const { rejected, add } = createCalls({ waitingBytes: 100 * EVENT_BYTES })
  add('a1', 1, { bytes: 19 * EVENT_BYTES })
  add('b1', 1 + 20 * 16)
  add('c1', 20, { events: Array.from({ length: 20 }, () => 'event') })
  add('d1', 'unknown', { bytes: 38 * EVENT_BYTES })
  t.same(rejected, [])
  add('e1')
  t.same(rejected, ['d1 rate_limited'])
})

await t.test('a call counts half of what may wait at most', async (t) => {
  const { rejected, add, take } = createCalls({ waitingBytes: 4 * EVENT_BYTES })
  add('a1', 1, { bytes: 1000 * EVENT_BYTES })
  add('b1')
  t.same(rejected, [])
  add('c1 d1')
  t.same(rejected, ['a1 rate_limited'])
  t.equal(take(), 'b1 c1 d1')
})
