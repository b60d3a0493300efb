import t from 'tap'
import type { Test } from 'tap'
import { SECOND } from '../../lib/time.ts'
import {
  addNeighbour,
  openClient,
  openWorld,
  outcomeOf,
  posting,
} from '../adversarial/responses/world.ts'
import type { Answer, AnyBody, World } from '../support/world.ts'

const GOOD = { type: 'order.paid', data: {} }
const LOST = { type: 'order.lost', data: {} }

async function declare(world: World, as: string, ...types: readonly string[]): Promise<void> {
  for (const type of types) await world.request('PUT', `/v1/event-types/${type}`, { as })
}

/** A caller that may be refused three times a minute, of whom nothing was counted yet. */
async function refusalWorld(t: Test) {
  const world = await openWorld(t, { rateLimits: { reads: 0, writes: 3 } })
  const { account, key } = await addNeighbour(world)
  await declare(world, key, 'order.paid')
  const post = (
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
    as = key,
  ): Promise<Answer<AnyBody>> => world.request('POST', '/v1/events', { as, body, headers })
  return { world, account, key, post }
}

/** As `202 "refusals";r=2;t=0`. */
function counted(answer: Answer<AnyBody>): string {
  return `${outcomeOf(answer)} ${answer.headers.get('ratelimit') ?? 'uncounted'}`
}

void t.test('a request that is refused, or refuses an event, counts', async (t) => {
  const { world, post, key } = await refusalWorld(t)
  const batch = { events: [GOOD, LOST, LOST] }
  t.equal(counted(await post(batch)), '202 "refusals";r=2;t=0', 'once, however many are refused')
  t.equal(counted(await post(LOST)), '400 undeclared_event_type "refusals";r=1;t=0')
  t.equal(counted(await post({ event: 1 })), '400 invalid_request "refusals";r=0;t=0')
  t.equal(counted(await post(GOOD)), '202 uncounted', 'who owes nothing is let in')
  const last = await post({ events: [1] })
  t.equal(counted(last), '202 "refusals";r=0;t=20', 'and may owe a token')
  t.equal(last.headers.get('ratelimit-policy'), '"refusals";q=3;w=60')
  const refused = await post(GOOD)
  t.equal(counted(refused), '429 rate_limited "refusals";r=0;t=20')
  t.equal(refused.headers.get('retry-after'), '20')
  t.match(refused.body, { error: { message: /were refused/ } })
  await declare(world, key, 'order.lost')
  await world.clock.advance(20 * SECOND)
  t.equal(counted(await post(batch)), '202 uncounted', 'who waits as told is let in')
})

void t.test('what is not the fault of a request does not count', async (t) => {
  const { world, post, key } = await refusalWorld(t)
  for (let at = 0; at < 10; at += 1) {
    const event = { ...GOOD, id: 'evt_1' }
    t.equal(counted(await post(event)), '202 uncounted', 'nor does a duplicate')
    t.equal(counted(await post({ events: [event] })), '202 uncounted')
    const client = await openClient(
      world,
      posting(world, '/v1/events', key, [
        'content-type: application/json',
        'content-length: 100',
        'connection: close',
      ]),
      '{"type":',
    )
    client.socket.end()
    await client.rest()
  }
  t.equal(counted(await post(GOOD)), '202 uncounted')
  for (let at = 0; at < 3; at += 1) await declare(world, key, 'order.paid')
  const { status } = await world.request('PUT', '/v1/event-types/order.paid', { as: key })
  t.equal(status, 429)
  t.equal(counted(await post(GOOD)), '202 uncounted', 'whoever used up its writes publishes')
})

void t.test('refusals count for the caller and for its account', async (t) => {
  const { world, post, account } = await refusalWorld(t)
  const { key: sibling } = await world.mintKey({ scopes: ['events:*'] }, world.userOf(account))
  const other = await addNeighbour(world)
  await declare(world, other.key, 'order.paid')
  for (let at = 0; at < 2; at += 1) {
    t.equal(outcomeOf(await post(LOST)), '400 undeclared_event_type')
    t.equal(outcomeOf(await post(LOST, {}, sibling)), '400 undeclared_event_type')
  }
  t.equal(outcomeOf(await post(GOOD)), '429 rate_limited')
  t.equal(outcomeOf(await post(GOOD, {}, sibling)), '429 rate_limited')
  t.equal(outcomeOf(await post(GOOD, {}, other.key)), '202')
})

void t.test('a refusal under an Idempotency-Key counts once, and its replays do not', async (t) => {
  const { post } = await refusalWorld(t)
  const headers = { 'idempotency-key': 'batch' }
  t.equal(counted(await post({ events: [LOST] }, headers)), '202 "refusals";r=2;t=0')
  for (let at = 0; at < 5; at += 1) {
    t.equal(counted(await post({ events: [LOST] }, headers)), '202 uncounted')
  }
  const mismatch = await post({ events: [GOOD] }, headers)
  t.equal(counted(mismatch), '422 idempotency_mismatch "refusals";r=1;t=0')
})
