import t, { type Test } from 'tap'
import { until } from '../support/daemon.ts'
import { OK, receiverAt } from '../support/egress.ts'
import { answerWith } from '../support/receiver.ts'
import type { HostileRow } from './hostile/row.ts'
import { ANSWER_ROWS } from './hostile/rows/answers.ts'
import { CONNECTION_ROWS } from './hostile/rows/connections.ts'
import { HANDSHAKE_ROWS } from './hostile/rows/handshakes.ts'
import { STEP, WISH_ROWS } from './hostile/rows/wishes.ts'
import {
  sendAfterExtraAnswers,
  sendOnClosingConnections,
  sendWhileHalfHang,
} from './hostile/sequences.ts'
import { HOST } from './hostile/server.ts'
import { createStand } from './hostile/stand.ts'

const ROWS = [...CONNECTION_ROWS, ...ANSWER_ROWS, ...HANDSHAKE_ROWS, ...WISH_ROWS]

/** An attempt that must end by itself has this long, so that its deadline cannot be what ended it. */
const LONG = 10_000
const SHORT = 400
/** What recording, and a busy machine, may add to a deadline. */
const SLACK = 3000

async function carryOut(t: Test, row: HostileRow): Promise<void> {
  const hostile = await row.start(t.testdir())
  t.teardown(() => hostile.close())
  const healthy = await receiverAt(t, answerWith(OK), HOST)
  const timeout = row.ends === 'deadline' ? SHORT : LONG
  const stand = await createStand(t, { timeout, ...(hostile.ca ? { ca: hostile.ca } : {}) })
  const bad = await stand.register(hostile, 'for.hostile')
  const good = await stand.register(healthy, 'for.healthy')

  await Promise.all([stand.publish('for.hostile', 1, row.padding), stand.publish('for.healthy')])
  const [at] = await stand.attempted(bad, 1)
  const [attempt] = at?.attempts ?? []
  if (at === undefined || attempt === undefined) throw new Error('no attempt')
  const { status } = at.delivery
  const { status_code, error, duration, started_at } = attempt
  t.same({ status, status_code, error }, row.recorded)
  t.equal(at.attempts.length, 1)
  t.equal(attempt.response, null, 'the answer of a private target is not kept')

  if (row.ends === 'deadline') t.ok(duration >= timeout - 1, `ended after ${duration} ms`)
  t.ok(duration < SHORT + SLACK, `ended after ${duration} ms`)
  if (status === 'pending') {
    const wait = ((at.delivery.next_at ?? 0) - started_at - duration) / 1000
    const asked = row.retryAfter ?? STEP
    t.ok(wait >= asked - 0.01 && wait <= asked * 1.1 + SLACK / 1000, `again after ${wait} s`)
  }
  const standing = async (): Promise<string | undefined> =>
    (await stand.store.webhooks.get(bad.account_id, bad.id))?.status
  // It is judged after its outcome is committed.
  if (row.once) await until('it is disabled', async () => (await standing()) === 'disabled')
  t.equal(await standing(), row.once ? 'disabled' : 'active')

  // Whatever the hostile one still does: what comes next arrives at the healthy one.
  await stand.publish('for.healthy')
  for (const { delivery } of await stand.attempted(good, 2)) t.equal(delivery.status, 'succeeded')
  const kept = status === 'succeeded' || status_code !== null ? 1 : 0
  await until('the connection is given up', () => stand.connections(hostile.port) <= kept)
  await stand.stop()
  t.equal(stand.connections(hostile.port) + stand.connections(healthy.port), 0)
  t.ok((hostile.requests?.length ?? 0) <= 1, 'nothing is sent twice within an attempt')
  t.ok(hostile.connections <= 1, 'and no connection is opened that nobody needs')
}

await t.test('a receiver that', async (t) => {
  for (const row of ROWS) await t.test(row.case, (t) => carryOut(t, row))
})

await t.test("an answer that nobody asked for is nobody's", sendAfterExtraAnswers)
await t.test('a connection that is closed when it is used again', sendOnClosingConnections)
await t.test('half of all receivers hang, and slots are left', (t) => sendWhileHalfHang(t, 4))
await t.test('half of all receivers hang, with work for every slot', (t) =>
  sendWhileHalfHang(t, 20),
)
