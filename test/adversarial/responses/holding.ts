import { z } from 'zod'
import type { StreamEvent } from '../../../daemon/operations/operation.ts'
import { defineFamily } from '../../../daemon/operations/family.ts'
import { operation } from '../../../daemon/operations/operation.ts'
import {
  PAGE_BYTES,
  RESERVED_RESPONSE_BYTES,
  RESPONSE_BYTES as ALL_RESPONSE_BYTES,
} from '../../../daemon/limits/amounts.ts'
import { MINUTE, SECOND } from '../../../lib/time.ts'
import { turn } from '../../support/clock.ts'
import { openStream } from '../../support/stream.ts'
import type { World } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import type { Client } from './world.ts'
import {
  FULL_PAGE,
  MIB,
  addNeighbour,
  openClient,
  openWorld,
  outcomeOf,
  posting,
  publishLarge,
  reading,
  until,
} from './world.ts'

const RESPONSE_BYTES = 8 * MIB
/** The system takes some MiB of what is written to a connection that nobody reads. */
const PIPELINED = 4
/** An account may have 20 streams. */
const ABORTED = 20

/** Asks for full pages over connections that are never read, until no more fit. */
async function hoard(world: World, key: string, connections: number): Promise<readonly Client[]> {
  const asked = Array.from({ length: PIPELINED }, () => reading(world, FULL_PAGE, key))
  const clients: Client[] = []
  for (let opened = 0; opened < connections; opened += 1) {
    clients.push(await openClient(world, ...asked))
  }
  return clients
}

function leave(clients: readonly Client[]): void {
  for (const { socket } of clients) socket.destroy()
}

/** Streams in which nothing happens, and how many are open. */
function createSilence() {
  let open = 0
  async function* waitFor(left: AbortSignal): AsyncGenerator<StreamEvent<{ text: string }>> {
    open += 1
    await new Promise((resolve) => {
      left.addEventListener('abort', resolve)
    })
    open -= 1
    yield { event: 'left', data: { text: 'nobody reads this' } }
  }
  const silence = operation({
    effect: 'stream',
    id: 'silence.follow',
    summary: 'Follow silence',
    method: 'GET',
    path: '/v1/silence',
    access: { scope: 'observe:read', pinned: 'refused' },
    agent: { toolset: 'silence' },
    emits: ['observe'],
    input: {},
    output: z.strictObject({ text: z.string() }),
    errors: [],
    example: { response: { text: 'nothing' } },
    run: ({ left }) => Promise.resolve(waitFor(left)),
  })
  const family = defineFamily({
    name: 'silence',
    scopes: { observe: ['read'] },
    events: [],
    errors: { rows: {} },
    operations: [silence],
  })
  return { family, open: () => open }
}

/** A change whose response is larger than what is reserved for it. */
const shout = operation({
  effect: 'own',
  id: 'loud.shout',
  summary: 'Shout',
  method: 'POST',
  path: '/v1/shouts',
  access: { scope: 'observe:read', pinned: 'refused' },
  agent: { toolset: 'loud' },
  emits: ['observe'],
  input: {},
  output: z.strictObject({ text: z.string() }),
  errors: [],
  example: { response: { text: 'A' } },
  run: () => Promise.resolve({ text: 'A'.repeat(2 * RESERVED_RESPONSE_BYTES) }),
})

const LOUD = defineFamily({
  name: 'loud',
  scopes: { observe: ['read'] },
  events: [],
  errors: { rows: {} },
  operations: [shout],
})

export const HOLDING_CHECKS: Checks = {
  async R05(t, saw) {
    const world = await openWorld(t, { traffic: { responseBytes: RESPONSE_BYTES } })
    const { key, traffic, request } = world
    await publishLarge(world, key, 8)
    const polite = await request('GET', '/v1/events?limit=1', { as: key })
    t.equal(polite.status, 200)
    const clients = await hoard(world, key, 60)
    await until('no more fits', () => traffic.responses.used > RESPONSE_BYTES - PAGE_BYTES)
    const refused = await request('GET', FULL_PAGE, { as: key })
    saw(outcomeOf(refused))
    t.equal(refused.headers.get('retry-after'), '2')
    t.ok(traffic.responses.used <= RESPONSE_BYTES, `${traffic.responses.used} bytes`)
    leave(clients)
    await until('everything is given back', () => traffic.responses.used === 0)
    t.equal((await request('GET', FULL_PAGE, { as: key })).status, 200)
  },

  async R06(t, saw) {
    const world = await openWorld(t, { traffic: { responseBytes: RESPONSE_BYTES } })
    const { key, traffic, request, account } = world
    const other = await addNeighbour(world)
    await publishLarge(world, key, 8)
    await publishLarge(world, other.key, 8)
    const first = await hoard(world, key, 10)
    await until('no more fits', () => traffic.responses.used > RESPONSE_BYTES - PAGE_BYTES)
    const page = await request<{ data: unknown[] }>('GET', FULL_PAGE, { as: other.key })
    saw(outcomeOf(page))
    t.equal(page.body.data.length, 8)
    const second = await hoard(world, other.key, 10)
    const { heldBy } = traffic.responses
    const lead = () => heldBy(account.id) - heldBy(other.account.id)
    const hasShare = () => heldBy(other.account.id) > PAGE_BYTES && lead() <= 2 * PAGE_BYTES
    await until('it has its share', hasShare)
    leave([...first, ...second])
    await until('everything is given back', () => traffic.responses.used === 0)
  },

  async R07(t, saw) {
    const world = await openWorld(t, { traffic: { responseBytes: RESPONSE_BYTES } })
    const { key, traffic, request, account } = world
    const all = traffic.responses.take(account.id, RESPONSE_BYTES, () => undefined)
    const body = { name: 'made in vain', scopes: ['events:read'] }
    saw(outcomeOf(await request('POST', '/v1/keys', { as: key, body })))
    all?.release()
    const { body: made } = await request<{ data: { name: string }[] }>('GET', '/v1/keys')
    t.notOk(made.data.some(({ name }) => name === body.name))
  },

  async R08(t) {
    const world = await openWorld(t)
    const { key, traffic } = world
    await publishLarge(world, key, 1)
    const asked = reading(world, '/v1/events', key).repeat(100)
    const client = await openClient(world, asked)
    // The system takes some MiB of 25.
    await until('all of them wait', () => traffic.responses.used > 10 * MIB)
    client.socket.destroy()
    await until('everything is given back', () => traffic.responses.used === 0)
    t.equal(traffic.responses.heldBy(world.account.id), 0)
  },

  async R09(t) {
    const world = await openWorld(t)
    const { key, traffic, clock } = world
    await publishLarge(world, key, 8)
    const [client] = await hoard(world, key, 1)
    // A reader's time runs from the first byte sent, and bytes are reserved earlier.
    await until('it begins', () => client !== undefined && client.socket.bytesRead > 0)
    await until('some of it waits', () => traffic.responses.used > PAGE_BYTES)
    await clock.advance(30 * SECOND)
    t.ok(traffic.responses.used > PAGE_BYTES, 'there is patience with it')
    await clock.advance(15 * SECOND)
    await until('everything is given back', () => traffic.responses.used === 0)
    await client?.rest()
    t.ok(client?.isClosed())
  },

  async R10(t) {
    const world = await openWorld(t, {}, [createSilence().family])
    const { key, traffic, clock, baseUrl } = world
    const stream = await openStream(`${baseUrl}/v1/silence`, key)
    await stream.until('retry')
    await clock.advance(10 * MINUTE)
    t.ok(traffic.responses.heldBy(world.account.id) > 0, 'it is still counted')
    t.match(await stream.until(':\n\n'), ':\n\n')
    stream.leave()
    await until('it is given back', () => traffic.responses.used === 0)
  },

  async R15(t) {
    const world = await openWorld(t, {}, [createSilence().family])
    const { key, traffic, clock } = world
    const { bodies, responses } = traffic
    await clock.advance(10 * SECOND)
    const timers = clock.timers
    const half = posting(world, '/v1/apps', key, [
      'content-type: application/json',
      'content-length: 1000',
    ])
    for (const queued of [false, true]) {
      // Behind a stream a response waits for its turn.
      const before = queued ? [reading(world, '/v1/silence', key)] : []
      const clients = await Promise.all(
        Array.from({ length: ABORTED }, () => openClient(world, ...before, half, '{"name":')),
      )
      await until('all are being read', () => bodies.used === ABORTED * 1000)
      leave(clients)
      await until('no body is held', () => bodies.used === 0)
      await until(`no response is held, queued: ${queued}`, () => responses.used === 0)
    }
    await clock.advance(10 * SECOND)
    t.equal(clock.timers, timers, 'nothing is looked at any more')
  },

  async R16(t) {
    const world = await openWorld(t, {}, [LOUD])
    const { key, traffic, account, fetch } = world
    const rest = traffic.responses.take(
      account.id,
      ALL_RESPONSE_BYTES - RESERVED_RESPONSE_BYTES,
      () => undefined,
    )
    const shout = () =>
      fetch('http://keyhook.invalid/v1/shouts', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
      })
    await t.rejects(shout(), { code: 'unavailable', message: 'The response was cut off.' })
    rest?.release()
    t.equal(traffic.responses.used, 0)
    t.equal((await shout()).status, 200)
    await until('everything is given back', () => traffic.responses.used === 0)
  },

  async R20(t, saw) {
    const silence = createSilence()
    const world = await openWorld(t, {}, [silence.family])
    const asked = reading(world, '/v1/silence', world.key)
    const client = await openClient(world, asked.repeat(PIPELINED))
    await until('all are open', () => silence.open() === PIPELINED)
    client.socket.destroy()
    await until('no response is held', () => world.traffic.responses.used === 0)
    // A source that waits resumes after its signal aborted.
    await turn()
    saw(`${silence.open()} open`)
  },
}
