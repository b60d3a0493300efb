import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { createAccountsFamily } from '../../../daemon/families/accounts/family.ts'
import { appsFamily } from '../../../daemon/families/apps/family.ts'
import { editsFamily } from '../../../daemon/families/edits/family.ts'
import { eventsFamily } from '../../../daemon/families/events/family.ts'
import type { Family } from '../../../daemon/operations/family.ts'
import { createClock } from '../../support/clock.ts'
import type { World, WorldOptions } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'

export const MIB = 1_048_576

/** A page of events that is as large as one may be. */
export const FULL_PAGE = '/v1/events?limit=100'
/** Bytes of one of those events. */
const EVENT_BYTES = 250_000

export const KEY_SCOPES = ['events:*', 'apps:*', 'edits:*', 'keys:*', 'observe:read']

/** A world whose clock is moved by hand. */
export async function openWorld(
  t: Parameters<typeof createWorld>[0],
  options: WorldOptions = {},
  families: readonly Family[] = [],
) {
  const clock = createClock(Date.parse('2026-01-31T12:00:00Z'))
  const world = await createWorld(t, {
    clock,
    ...options,
    families: [appsFamily, editsFamily, eventsFamily, createAccountsFamily(), ...families],
  })
  const { key } = await world.mintKey({ scopes: KEY_SCOPES })
  return { ...world, clock, key }
}

/** Another account with a key of its own. */
export async function addNeighbour(world: World) {
  const account = await world.addAccount()
  const { key } = await world.mintKey({ scopes: KEY_SCOPES }, world.userOf(account))
  return { account, key }
}

/** Publishes large events; answers their ids, oldest first. */
export async function publishLarge(world: World, key: string, count: number): Promise<string[]> {
  await world.request('PUT', '/v1/event-types/order.paid', { as: key })
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) {
    const body = { type: 'order.paid', data: { index, text: 'x'.repeat(EVENT_BYTES) } }
    const made = await world.request<{ id: string }>('POST', '/v1/events', { as: key, body })
    ids.push(made.body.id)
  }
  return ids
}

/** A client that sends what it is told to, and reads only when it is told to. */
export interface Client {
  readonly socket: Socket
  isClosed(): boolean
  /** Reads until the connection is closed; answers what came. */
  rest(): Promise<string>
}

/** Opens a connection and sends bytes over it. */
export async function openClient({ baseUrl }: World, ...sent: readonly string[]): Promise<Client> {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
  let isClosed = false
  let came = ''
  // A reset is how a server may close, too.
  socket.on('error', () => undefined)
  socket.once('close', () => (isClosed = true))
  await once(socket, 'connect')
  socket.pause()
  for (const bytes of sent) socket.write(bytes)
  return {
    socket,
    isClosed: () => isClosed,
    async rest() {
      socket.on('data', (chunk: Buffer) => (came += chunk.toString('latin1')))
      socket.resume()
      if (!isClosed) await once(socket, 'close')
      return came
    },
  }
}

/** A request without a body. */
export function reading({ baseUrl }: World, path: string, key: string): string {
  return `GET ${new URL(baseUrl).pathname.replace(/\/$/, '')}${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n\r\n`
}

/** The head of a request with a JSON body, which is to follow. */
export function posting(
  { baseUrl }: World,
  path: string,
  key: string,
  headers: readonly string[],
): string {
  const lines = [
    `POST ${new URL(baseUrl).pathname.replace(/\/$/, '')}${path} HTTP/1.1`,
    'host: a',
    `authorization: Bearer ${key}`,
    ...headers,
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

const WITHIN = 60_000

/** Waits until a condition holds; rejects when it does not in time. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + WITHIN
  while (!holds()) {
    if (Date.now() > end) throw new Error(`not within ${WITHIN} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** As `401 key_revoked`. */
export function outcomeOf({ status, body }: { readonly status: number; readonly body: unknown }) {
  const { error } = body as { readonly error?: { readonly code: string } }
  return error === undefined ? String(status) : `${status} ${error.code}`
}
