import { EventEmitter, once } from 'node:events'
import t from 'tap'
import { SECOND } from '../../lib/time.ts'
import { signatureHeader } from '../../lib/webhook/sign.ts'
import { verifyWebhook } from '../../lib/webhook/verify.ts'
import type { ReceivedRequest } from '../support/receiver.ts'
import type { Webhook } from '../support/webhooks.ts'
import { OK, headersOf, publish, receiverFor, register, shopWorld } from '../support/webhooks.ts'
import type { World } from '../support/world.ts'

/** An instant that was not seen itself: it lies between a question and its answer. */
interface Between {
  readonly asked: number
  readonly answered: number
}

interface Life {
  readonly secret: string
  readonly from: Between
  until: Between
}

const NEVER: Between = { asked: Infinity, answered: Infinity }
const RUN = 6 * SECOND
const IN_FLIGHT = 64
const PUBLISHERS = 32
const ROTATIONS = 20
/** Seconds of overlap and deliveries until the next rotation, again and again. */
const TURNS = [
  { overlap: 1, deliveries: 20 },
  { overlap: 2, deliveries: 100 },
  { overlap: 0, deliveries: 20 },
  { overlap: 0, deliveries: 20 },
  { overlap: 3, deliveries: 20 },
  { overlap: 1, deliveries: 20 },
  { overlap: 1, deliveries: 200 },
]

await t.test('every delivery verifies with a live secret at every moment', async (t) => {
  const world = await shopWorld(t)
  const arrivals = new EventEmitter().setMaxListeners(0)
  const receiver = await receiverFor(t, (socket, request) => {
    OK(socket, request)
    arrivals.emit('one')
  })
  const begun = Date.now()
  const webhook = await register(world, { url: receiver.url })
  const born = { asked: begun, answered: Date.now() }
  const lives: Life[] = [{ secret: webhook.secret, from: born, until: NEVER }]

  const end = Date.now() + RUN
  const isOver = (): boolean => Date.now() >= end && lives.length > ROTATIONS
  let published = 0
  async function publishOn(): Promise<void> {
    while (!isOver()) {
      published += 1
      await publish(world)
      if (published - receiver.requests.length >= IN_FLIGHT) await once(arrivals, 'one')
    }
  }
  async function rotateOn(): Promise<void> {
    for (let turn = 0; !isOver(); turn += 1) {
      const { overlap = 0, deliveries = 0 } = TURNS[turn % TURNS.length] ?? {}
      await rotate(world, webhook, overlap, lives)
      const enough = receiver.requests.length + deliveries
      while (receiver.requests.length < enough && !isOver()) await once(arrivals, 'one')
    }
  }
  await Promise.all([rotateOn(), ...Array.from({ length: PUBLISHERS }, publishOn)])
  while (receiver.requests.length < published) await once(arrivals, 'one')

  let overlapping = 0
  for (const request of receiver.requests) {
    const signers = await judge(request, lives)
    if (signers.length > 1) overlapping += 1
  }
  t.equal(receiver.requests.length, published)
  t.ok(overlapping > 0, 'some were signed by several')
  t.comment(
    `${published} deliveries, ${overlapping} of several secrets, ${lives.length - 1} rotations`,
  )
})

/** Rotates; where too many secrets live already, without overlap. */
async function rotate(
  world: World,
  webhook: Webhook,
  wanted: number,
  lives: Life[],
): Promise<void> {
  for (const overlap of [wanted, 0]) {
    const asked = Date.now()
    const { status, body } = await world.request<Webhook>(
      'POST',
      `/v1/webhooks/${webhook.id}/rotate-secret`,
      { body: { overlap_seconds: overlap } },
    )
    const answered = Date.now()
    if (status === 409) continue
    if (status !== 201) throw new Error(JSON.stringify(body))
    for (const life of lives) life.until = sooner(life.until, asked, answered, overlap * SECOND)
    lives.push({ secret: body.secret, from: { asked, answered }, until: NEVER })
    return
  }
}

function sooner(until: Between, asked: number, answered: number, overlap: number): Between {
  return {
    asked: Math.min(until.asked, asked + overlap),
    answered: Math.min(until.answered, answered + overlap),
  }
}

/**
 * The secrets that signed a delivery: every one that lived for the whole second of its signature, and
 * none that lived in no part of it.
 */
async function judge(
  { body, head, connection }: ReceivedRequest,
  lives: readonly Life[],
): Promise<readonly Life[]> {
  const headers = headersOf({ body, head, connection })
  const [stamp = '', ...signatures] = String(headers['Service-Signature']).split(',')
  const second = Number(stamp.slice('t='.length))
  const [first, last] = [second * SECOND, second * SECOND + SECOND - 1]
  const may = lives.filter(({ from, until }) => from.asked <= last && until.answered >= first)
  const must = may.filter(({ from, until }) => from.answered < first && until.asked > last)
  const signatureOf = ({ secret }: Life): string | undefined =>
    signatureHeader(second, Buffer.from(body), [secret]).split(',')[1]
  const signers = may.filter((life) => signatures.includes(signatureOf(life) ?? ''))
  if (signers.length !== signatures.length)
    throw new Error(`a secret that had ended signed ${head}`)
  if (must.some((life) => !signers.includes(life))) {
    throw new Error(`a live secret did not sign ${head}`)
  }
  await verifyWebhook(
    body,
    headers,
    signers.map(({ secret }) => secret),
    { now: first },
  )
  return signers
}
