import { z } from 'zod'
import { defineFamily } from '../../../daemon/operations/family.ts'
import { operation } from '../../../daemon/operations/operation.ts'
import { BODY_BYTES } from '../../../daemon/limits/amounts.ts'
import { SECOND } from '../../../lib/time.ts'
import { boxWorld, PATH as BOX } from '../../support/box-world.ts'
import { createClock } from '../../support/clock.ts'
import { mountIn } from '../../support/mounting.ts'
import { BOUNDARY, MULTIPART, headerOf } from '../../support/multipart.ts'
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
  until,
} from './world.ts'

const JSON_TYPE = 'content-type: application/json'
/** As many of these as fit leave nothing over. */
const FIT = 2
const LARGE = BODY_BYTES / FIT

/** Sends the head and the first bytes of large bodies. */
function sendHalves(world: World, key: string, count: number): Promise<readonly Client[]> {
  const head = posting(world, '/v1/apps', key, [JSON_TYPE, `content-length: ${LARGE}`])
  return Promise.all(
    Array.from({ length: count }, () => openClient(world, head, `{"name":"${'x'.repeat(1000)}`)),
  )
}

/** As `429 too_many_bytes`. */
function outcomeIn(response: string): string {
  const [, status = ''] = /^HTTP\/1\.1 (\d+)/.exec(response) ?? []
  const [, code = ''] = /"code":"(\w+)"/.exec(response) ?? []
  return `${status} ${code}`
}

/** A family with an operation that holds its body until it is told to finish. */
function slowFamily() {
  let begin = (): void => undefined
  let finish = (): void => undefined
  const started = new Promise<void>((resolve) => (begin = resolve))
  const over = new Promise<void>((resolve) => (finish = resolve))
  const work = operation({
    effect: 'own',
    id: 'slow.work',
    summary: 'Work slowly',
    method: 'POST',
    path: '/v1/slow',
    access: { scope: 'observe:read', pinned: 'refused' },
    agent: { toolset: 'slow' },
    emits: ['observe'],
    input: { body: z.strictObject({ text: z.string() }) },
    output: z.strictObject({ size: z.int() }),
    errors: [],
    example: { body: { text: 'a' }, response: { size: 1 } },
    async run({ body }) {
      begin()
      await over
      return { size: body.text.length }
    },
  })
  const family = defineFamily({
    name: 'slow',
    scopes: { observe: ['read'] },
    events: [],
    errors: { rows: {} },
    operations: [work],
  })
  return { family, started, finish }
}

export const BODY_CHECKS: Checks = {
  async R11(t, saw) {
    const world = await openWorld(t)
    const { key, traffic } = world
    const clients = await sendHalves(world, key, 40)
    const refused = () => clients.filter((client) => client.isClosed())
    for (const { socket } of clients) socket.resume()
    await until('the others are refused', () => refused().length === 40 - FIT)
    t.equal(traffic.bodies.used, BODY_BYTES)
    const [late] = await sendHalves(world, key, 1)
    const response = (await late?.rest()) ?? ''
    saw(outcomeIn(response))
    t.match(response, /connection: close/i)
    t.match(response, /retry-after: 2/i)
    for (const { socket } of clients) socket.destroy()
    await until('everything is given back', () => traffic.bodies.used === 0)
    await until('no response is held', () => traffic.responses.used === 0)
  },

  async R12(t, saw) {
    const world = await openWorld(t)
    const { key, traffic, request, account } = world
    const other = await addNeighbour(world)
    const clients: Client[] = []
    // One after the other, so that the last client is the one whose body came last.
    while (clients.length < FIT) {
      clients.push(...(await sendHalves(world, key, 1)))
      await until('it is being read', () => traffic.bodies.used === clients.length * LARGE)
    }
    const body = { name: 'a key', scopes: ['events:read'] }
    const made = await request('POST', '/v1/keys', { as: other.key, body })
    saw(made.status === 201 ? '200' : outcomeOf(made))
    const newest = clients.at(-1)
    saw(outcomeIn((await newest?.rest()) ?? ''))
    t.equal(traffic.bodies.heldBy(account.id), BODY_BYTES - LARGE)
    // In chunks, while the pool is full again.
    const again = await sendHalves(world, key, 1)
    await until('no more fits', () => traffic.bodies.used === BODY_BYTES)
    const head = posting(world, '/v1/keys', other.key, [
      JSON_TYPE,
      'transfer-encoding: chunked',
      'connection: close',
    ])
    const text = JSON.stringify(body)
    const chunked = await openClient(
      world,
      head,
      `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    )
    t.match(await chunked.rest(), /^HTTP\/1\.1 201/)
    for (const { socket } of [...clients, ...again]) socket.destroy()
    await until('everything is given back', () => traffic.bodies.used === 0)
  },

  async R13(t, saw) {
    const world = await openWorld(t)
    const { key, traffic, clock } = world
    const head = posting(world, '/v1/events', key, [JSON_TYPE, 'content-length: 100000'])
    const client = await openClient(world, head, '{')
    await until('it is being read', () => traffic.bodies.used === 100_000)
    const rest = client.rest()
    // A byte now and then earns nothing.
    for (let second = 0; second < 40 && !client.isClosed(); second += 1) {
      client.socket.write('x')
      await clock.advance(SECOND)
    }
    const response = await rest
    saw(outcomeIn(response))
    t.match(response, /connection: close/i)
    t.equal(traffic.bodies.used, 0)

    const steady = createClock(Date.parse('2026-01-31T12:00:00Z'))
    const boxes = await boxWorld(t, {}, { clock: steady })
    const form = posting(boxes.world, BOX, boxes.key, [
      `content-type: ${MULTIPART['content-type']}`,
      'content-length: 100000',
    ])
    const part = `--${BOUNDARY}\r\n${headerOf({ name: 'file', filename: 'a' })}\r\n\r\na`
    const slow = await openClient(boxes.world, form, part)
    await until('it is being read', () => boxes.filling.reading === 1)
    const answer = slow.rest()
    await steady.advance(60 * SECOND)
    t.equal(outcomeIn(await answer), '408 body_too_slow')
  },

  async R14(t, saw) {
    for (const host of ['http', 'koa', 'express', 'fastify'] as const) {
      mountIn(host)
      const limits = { bodyBytes: MIB, responseBytes: 3 * MIB }
      const world = await openWorld(t, { traffic: limits })
      const { key, traffic, request, account } = world
      await publishLarge(world, key, 8)
      const other = traffic.bodies.take(account.id, MIB / 2, () => undefined)
      const head = posting(world, '/v1/events', key, [JSON_TYPE, `content-length: ${MIB}`])
      const client = await openClient(world, head, '{')
      t.equal(outcomeIn(await client.rest()), '429 too_many_bytes', host)
      other?.release()
      const held = traffic.responses.take(account.id, 2 * MIB, () => undefined)
      const refused = outcomeOf(await request('GET', FULL_PAGE, { as: key }))
      t.equal(refused, '429 too_many_bytes', host)
      saw(refused)
      held?.release()
      t.equal((await request('GET', FULL_PAGE, { as: key })).status, 200, host)
      await until('everything is given back', () => traffic.responses.used === 0)
      t.equal(traffic.bodies.used, 0)
    }
  },

  async R17(t, saw) {
    const { family, started, finish } = slowFamily()
    const world = await openWorld(t, { traffic: { bodyBytes: 100_000 } }, [family])
    const { key, traffic, request, account } = world
    const other = await addNeighbour(world)
    const first = request('POST', '/v1/slow', { as: key, body: { text: 'x'.repeat(80_000) } })
    await started
    const held = traffic.bodies.heldBy(account.id)
    t.ok(held > 80_000)
    const body = { text: 'x'.repeat(30_000) }
    let answered = false
    const second = request('POST', '/v1/slow', { as: other.key, body })
    void second.then(() => (answered = true))
    await until('it is answered, or let in', () => answered || traffic.bodies.used !== held)
    finish()
    saw(outcomeOf(await second))
    t.equal((await first).status, 200)
    t.equal((await request('POST', '/v1/slow', { as: other.key, body })).status, 200)
    t.equal(traffic.bodies.used, 0)
  },
}
