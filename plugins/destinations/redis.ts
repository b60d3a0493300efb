/**
 * Streams of Redis, over node-redis: one client of one address, which knows no cluster and no sentinel, and
 * follows no address that a server names.
 *
 * @module
 */
import { ErrorReply, createClient } from '@redis/client'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { RedisAddress } from './contract/addresses.ts'
import type { Connection } from './connection.ts'
import { CONNECT_TIMEOUT } from './connection.ts'
import type { Destination, DestinationCause, DestinationMessage } from './contract.ts'
import { RefusedError, failureOf, refusedAs } from './failures.ts'
import { createNamed } from './named.ts'

/** A server that answers nothing loses its connection after this time; an idle one is opened again. */
const SILENCE: Millis = 30 * SECOND

/** Each message is an entry of a stream. */
export function createRedisDestination(addresses: readonly RedisAddress[]): Destination {
  return createNamed('redis', addresses, connect)
}

async function connect(address: RedisAddress, lost: () => void): Promise<Connection> {
  const { stream, maxLength } = address
  const client = createClientOf(address)
  client.on('error', lost)
  client.on('end', lost)
  const close = async (): Promise<void> => {
    lost()
    if (client.isOpen) client.destroy()
  }
  try {
    await client.connect()
  } catch (cause) {
    await close()
    const refusal = causeOf(cause)
    throw refusal === undefined ? cause : new RefusedError(refusal, (cause as Error).message)
  }
  const trim = maxLength !== undefined && {
    TRIM: { strategy: 'MAXLEN', strategyModifier: '~', threshold: maxLength } as const,
  }
  return {
    async send(message) {
      try {
        await client.xAdd(stream, '*', fieldsOf(message), { ...trim })
        return { ok: true }
      } catch (cause) {
        const refusal = causeOf(cause)
        return refusal === undefined
          ? failureOf(cause)
          : refusedAs(refusal, (cause as Error).message)
      }
    },
    close,
  }
}

function createClientOf({ hostname, port, isSecure, ...address }: RedisAddress) {
  const { username, password, database } = address
  return createClient({
    socket: {
      host: hostname,
      port,
      connectTimeout: CONNECT_TIMEOUT,
      socketTimeout: SILENCE,
      // The deliveries reconnect.
      reconnectStrategy: false,
      ...(isSecure && { tls: true as const, servername: hostname }),
    },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    database,
    disableOfflineQueue: true,
    // Without these a server could send the client to another address.
    RESP: 2,
    maintNotifications: 'disabled',
  })
}

function fieldsOf(message: DestinationMessage): Record<string, string | Buffer> {
  const { id, event_id, type, account_id, webhook_id, headers, body } = message
  return {
    id,
    event_id,
    type,
    account_id,
    webhook_id,
    headers: JSON.stringify(headers),
    body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
  }
}

const CAUSES: readonly (readonly [RegExp, DestinationCause])[] = [
  [/^(?:MOVED|ASK|CLUSTERDOWN)\b/, 'redirected'],
  [/^(?:NOAUTH|WRONGPASS|NOPERM|ERR invalid password|ERR AUTH)\b/, 'not_permitted'],
  [/^OOM\b/, 'full'],
]

/** What a reply of the server means; undefined for an error of the network. */
function causeOf(error: unknown): DestinationCause | undefined {
  if (!(error instanceof ErrorReply)) return undefined
  return CAUSES.find(([form]) => form.test(error.message))?.[1] ?? 'rejected'
}
