import { parseBlocks } from '../../../daemon/config/values.ts'
import type { World } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import type { Client } from './world.ts'
import { FULL_PAGE, MIB, openClient, openWorld, outcomeOf, posting, until } from './world.ts'

const KIB = 1024
const NETWORKS = 32
/** The largest body of a sign-in. */
const SIGN_IN_BYTES = 8 * KIB
/** Half-sent sign-ins of each network: together they hold 2 MiB. */
const EACH = 8

/** Sends the head and the first byte of sign-ins through a trusted proxy. */
async function sendHalves(world: World): Promise<readonly Client[]> {
  const clients: Client[] = []
  for (let index = 0; index < NETWORKS * EACH; index += 1) {
    const head = posting(world, '/v1/session', 'nobody', [
      'content-type: application/json',
      `content-length: ${SIGN_IN_BYTES}`,
      `x-forwarded-for: 192.0.2.${1 + (index % NETWORKS)}`,
    ])
    clients.push(await openClient(world, head, '{'))
  }
  return clients
}

/** What a sign-in of a network is answered. */
async function signIn(world: World, network: string): Promise<string> {
  const headers = { 'x-forwarded-for': network }
  const body = { email: 'owner@example.com', password: 'wrong horse battery' }
  return outcomeOf(await world.request('POST', '/v1/session', { as: null, body, headers }))
}

export const CROWD_CHECKS: Checks = {
  async R18(t, saw) {
    const world = await openWorld(t, {
      trustedProxies: parseBlocks('127.0.0.1'),
      traffic: { bodyBytes: 2 * MIB, anonymousBodyBytes: 2 * MIB },
    })
    const { key, traffic, request } = world
    const clients = await sendHalves(world)
    const used = () => traffic.bodies.used + traffic.anonymous.bodies.used
    await until('no more fits', () => used() === 2 * MIB)
    t.equal(traffic.bodies.used, 0, 'what accounts share is free')
    await request('PUT', '/v1/event-types/order.paid', { as: key })
    const text = 'x'.repeat(200 * KIB)
    const events = Array.from({ length: 9 }, () => ({ type: 'order.paid', data: { text } }))
    saw(outcomeOf(await request('POST', '/v1/events', { as: key, body: { events } })))
    saw(await signIn(world, '198.51.100.1'))
    for (const { socket } of clients) socket.destroy()
    await until('everything is given back', () => used() === 0)
  },

  async R19(t, saw) {
    const world = await openWorld(t, {
      traffic: { responseBytes: 4 * MIB, anonymousResponseBytes: MIB },
    })
    const { key, traffic, request } = world
    const { responses } = traffic.anonymous
    const held = Array.from({ length: 16 }, (_, index) =>
      responses.take(`network ${index}`, MIB / 16, () => undefined),
    )
    const anonymous = await request('GET', FULL_PAGE, { as: null })
    t.equal(outcomeOf(anonymous), '401 missing_credentials', 'an error is always answered')
    saw(outcomeOf(await request('GET', FULL_PAGE, { as: key })))
    t.equal(traffic.responses.used, 0)
    for (const lease of held) lease?.release()
    t.equal(responses.used, 0)
  },
}
