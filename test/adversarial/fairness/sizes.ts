import type { Test } from 'tap'
import { SECOND } from '../../../lib/time.ts'
import { MIB, addNeighbour, openClient, openWorld, outcomeOf, posting } from '../responses/world.ts'
import type { Checks, Saw } from '../run.ts'

/** An account of which nothing was counted yet. */
async function openMetered(t: Test, writes: number) {
  const world = await openWorld(t, { rateLimits: { reads: 0, writes } })
  const { account, key } = await addNeighbour(world)
  await world.clock.advance(60 * SECOND)

  async function post(path: string, body: unknown): Promise<string> {
    const answer = await world.request('POST', path, { as: key, body })
    const wait = answer.headers.get('retry-after')
    return wait === null ? outcomeOf(answer) : `${outcomeOf(answer)} after ${wait} s`
  }

  /** A body of some MiB without its length. */
  async function pour(path: string, mib: number): Promise<string> {
    const text = `{"name":"${'x'.repeat(mib * MIB - 100)}"}`
    const head = posting(world, path, key, [
      'content-type: application/json',
      'transfer-encoding: chunked',
      'connection: close',
    ])
    const chunk = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
    const response = await (await openClient(world, head, chunk)).rest()
    const [, status = ''] = /^HTTP\/1\.1 (\d+)/.exec(response) ?? []
    const [, code = ''] = /"code":"(\w+)"/.exec(response) ?? []
    const [, wait] = /retry-after: (\d+)/i.exec(response) ?? []
    const [, shown] = /ratelimit: "writes";(r=\d+;t=\d+)/i.exec(response) ?? []
    return wait === undefined ? `${status} ${code}` : `${status} ${code} after ${wait} s, ${shown}`
  }

  const change = async (): Promise<string> => {
    return outcomeOf(await world.request('PUT', '/v1/event-types/order.paid', { as: key }))
  }
  return { ...world, account, key, post, pour, change }
}

/** JSON of so many MiB, which is refused once it was parsed. */
function large(mib: number): object {
  return { name: 'x'.repeat(mib * MIB - 100) }
}

function sawCode(saw: Saw, outcome: string): void {
  saw(outcome.split(' ', 2).join(' '))
}

export const SIZE_CHECKS: Checks = {
  async F19(t, saw) {
    const { post, change, clock } = await openMetered(t, 20)
    t.equal(await post('/v1/apps', large(16)), '400 invalid_request')
    const refused = await post('/v1/apps', large(16))
    t.equal(refused, '429 rate_limited after 36 s', 'it needs 16 tokens, and four are left')
    sawCode(saw, refused)
    await clock.advance(36 * SECOND)
    t.equal(await post('/v1/apps', large(16)), '400 invalid_request', 'who waits as told is let in')
    t.equal(await change(), '429 rate_limited')

    const small = await openMetered(t, 8)
    const outcome = await small.post('/v1/apps', large(16))
    t.equal(outcome, '400 invalid_request', 'a full bucket is enough for any body')
    saw(outcome)
    await small.clock.advance(67 * SECOND)
    t.equal(await small.change(), '429 rate_limited', 'it pays for all of it')
    await small.clock.advance(SECOND)
    t.equal(await small.change(), '200')
  },

  async F20(t, saw) {
    const { pour, change, clock } = await openMetered(t, 4)
    t.equal(await pour('/v1/apps', 3), '400 invalid_request')
    const refused = await pour('/v1/apps', 3)
    t.equal(refused, '429 rate_limited after 30 s, r=0;t=30', 'it took one token and lacks two')
    sawCode(saw, refused)
    t.equal(await change(), '429 rate_limited', 'bytes that were read are paid for')
    await clock.advance(30 * SECOND)
    const further = await pour('/v1/apps', 3)
    t.equal(further, '429 rate_limited after 45 s, r=0;t=45', 'it gets past the refused MiB')
    await clock.advance(45 * SECOND)
    t.equal(await pour('/v1/apps', 3), '400 invalid_request', 'who waits as told is let in')
    await clock.advance(60 * SECOND)
    t.equal(await pour('/v1/apps', 6), '400 invalid_request', 'a full bucket is enough')
    t.equal(await change(), '429 rate_limited')

    const unmetered = await openMetered(t, 4)
    const outcome = await unmetered.pour('/v1/events', 6)
    t.equal(outcome, '400 invalid_request', 'a full bucket is enough')
    const second = await unmetered.pour('/v1/events', 3)
    t.equal(second, '429 rate_limited after 30 s, r=0;t=30', 'its first MiB is free')
  },

  async F21(t, saw) {
    const { post, request, key } = await openMetered(t, 8)
    await request('PUT', '/v1/event-types/order.paid', { as: key })
    const ones = { events: Array.from({ length: 1_000_000 }, () => 1234567) }
    const first = await post('/v1/events', ones)
    t.equal(first, '400 invalid_request')
    const second = await post('/v1/events', ones)
    t.equal(second, '429 rate_limited after 53 s')
    sawCode(saw, second)
    for (let published = 0; published < 20; published += 1) {
      saw(await post('/v1/events', { type: 'order.paid', data: {} }))
    }
  },
}
