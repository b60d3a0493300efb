import type { Test } from 'tap'
import { until } from '../../support/daemon.ts'
import { OK, receiverAt } from '../../support/egress.ts'
import { answerWith, type Answer } from '../../support/receiver.ts'
import { soon } from './pouring.ts'
import { HOST } from './server.ts'
import { createStand } from './stand.ts'

const GONE = 'HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'
const ONE_AT_A_TIME = { total: 1, perWebhook: 1 }

/** Whoever takes a 410 that was not meant for it disables the webhook. */
const WITH_THE_ANSWER: Readonly<Record<string, Answer>> = {
  'in the same packet': answerWith(OK + GONE),
  'in many copies': answerWith(OK + GONE.repeat(50)),
  'after a body of no length': answerWith(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n${GONE}`),
}

/** What comes once the next request is on its way nobody can tell from its answer. */
const WHILE_IDLE: Readonly<Record<string, Answer>> = {
  'a moment later': (socket) => {
    socket.write(OK)
    soon(() => socket.write(GONE))
  },
  'begun at once and ended a moment later': (socket) => {
    socket.write(OK + GONE.slice(0, 15))
    soon(() => socket.write(GONE.slice(15)))
  },
}

/** An answer that nobody asked for is nobody's. */
export async function sendAfterExtraAnswers(t: Test): Promise<void> {
  for (const [title, answer] of Object.entries({ ...WITH_THE_ANSWER, ...WHILE_IDLE })) {
    await t.test(title, async (t) => {
      const receiver = await receiverAt(t, answer, HOST)
      const stand = await createStand(t, { timeout: 5000, limits: ONE_AT_A_TIME })
      const webhook = await stand.register(receiver, 'any')
      const atOnce = title in WITH_THE_ANSWER ? 5 : 1
      for (let sent = atOnce; sent <= 5 * atOnce; sent += atOnce) {
        await stand.publish('any', atOnce)
        await stand.succeeded(webhook, sent)
        await until('it is given up', () => stand.connections(receiver.port) === 0, 2000)
      }
      t.equal((await stand.store.webhooks.get(webhook.account_id, webhook.id))?.status, 'active')
      t.equal(receiver.requests.length, 5 * atOnce)
      t.equal(receiver.connections, 5 * atOnce, 'no connection is used again')
    })
  }
}

const SCHEDULE = Array.from({ length: 20 }, () => 1)

/** A connection that its receiver closes the moment it is used again. */
export async function sendOnClosingConnections(t: Test): Promise<void> {
  const used = new Set<number>()
  const receiver = await receiverAt(
    t,
    (socket, { connection }) => {
      if (used.has(connection)) socket.destroy()
      else socket.write(OK)
      used.add(connection)
    },
    HOST,
  )
  const stand = await createStand(t, { timeout: 5000, limits: ONE_AT_A_TIME, schedule: SCHEDULE })
  const webhook = await stand.register(receiver, 'any')
  await stand.publish('any', 6)
  const deliveries = await stand.succeeded(webhook, 6)
  const attempts = deliveries.flatMap((one) => one.attempts)
  t.same(new Set(attempts.map(({ error }) => error)), new Set([null, 'reset']))
  t.equal(receiver.requests.length, attempts.length, 'no attempt is sent twice behind the record')
}

const HALF = 50

/**
 * Half of all receivers hang, and the other half gets everything meanwhile.
 *
 * @param events sent to each of them; of the daemon's 256 slots what hangs takes 50 times as many
 */
export async function sendWhileHalfHang(t: Test, events: number): Promise<void> {
  const hanging = await Promise.all(
    Array.from({ length: HALF }, () => receiverAt(t, () => undefined, HOST)),
  )
  const well = await Promise.all(
    Array.from({ length: HALF }, () => receiverAt(t, answerWith(OK), HOST)),
  )
  const stand = await createStand(t, { timeout: 10_000 })
  const stuck = await Promise.all(hanging.map((door) => stand.register(door, 'any')))
  const served = await Promise.all(well.map((door) => stand.register(door, 'any')))
  for (let event = 0; event < events; event += 1) await stand.publish('any')
  for (const webhook of served) await stand.succeeded(webhook, events)
  const ended = await Promise.all(stuck.map((webhook) => stand.deliveries(webhook)))
  const attempts = ended.flat().flatMap((one) => one.attempts)
  t.equal(attempts.length, 0, 'those that hang hang still')
  for (const receiver of hanging) await receiver.close()
}
