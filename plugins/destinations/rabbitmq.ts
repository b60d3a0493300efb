/**
 * Queues and exchanges of RabbitMQ, over amqplib: it opens connections to the address that it is given, and to
 * none that a server names.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ConfirmChannel } from 'amqplib'
import amqplib from 'amqplib'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { RabbitMqAddress } from './contract/addresses.ts'
import type { Connection } from './connection.ts'
import { CONNECT_TIMEOUT } from './connection.ts'
import type { Destination, DestinationMessage, DestinationOutcome } from './contract.ts'
import { RefusedError, failureOf, refusedAs } from './failures.ts'
import { createNamed } from './named.ts'

/** Seconds between heartbeats: a server that is gone is noticed within two. */
const HEARTBEAT = 10
/** A server that does not agree to the end of a connection by then is not waited for. */
const CLOSE_TIMEOUT: Millis = SECOND
/** Codes of AMQP: a missing virtual host or exchange, missing permission or wrong credentials. */
const NOT_FOUND = 404
const NOT_PERMITTED: ReadonlySet<number> = new Set([403, 530])

/** Messages are persistent and confirmed; one that reaches no queue has failed. */
export function createRabbitMqDestination(addresses: readonly RabbitMqAddress[]): Destination {
  return createNamed('rabbitmq', addresses, connect)
}

async function connect(address: RabbitMqAddress, lost: () => void): Promise<Connection> {
  const { hostname, port, isSecure, username, password, vhost } = address
  const opened = await amqplib
    .connect(
      {
        protocol: isSecure ? 'amqps' : 'amqp',
        hostname,
        port,
        username,
        password,
        vhost,
        heartbeat: HEARTBEAT,
      },
      { timeout: CONNECT_TIMEOUT, noDelay: true, clientProperties: { connection_name: 'keyhook' } },
    )
    .catch((cause: unknown) => {
      throw refusalOf(cause) ?? cause
    })
  let isBlocked = false
  opened.on('error', () => undefined)
  opened.on('close', lost)
  // A server short of memory or disk keeps the connection, and reads nothing from it.
  opened.on('blocked', () => {
    isBlocked = true
  })
  opened.on('unblocked', () => {
    isBlocked = false
  })
  const close = async (): Promise<void> => {
    lost()
    const timeout = delay(CLOSE_TIMEOUT, undefined, { ref: false })
    await Promise.race([opened.close().catch(() => undefined), timeout])
    // The client has no other way to end a connection to a server that hangs.
    const { stream } = opened.connection as Partial<{ stream: { destroy(): void } }>
    stream?.destroy()
  }
  try {
    const channel = await opened.createConfirmChannel()
    const send = createSend(address, channel, close)
    return { send: async (message) => (isBlocked ? refusedAs('full') : send(message)), close }
  } catch (cause) {
    await close()
    throw cause
  }
}

/** @param close closes the connection of a channel that the server closed */
function createSend(
  { exchange, routingKey }: RabbitMqAddress,
  channel: ConfirmChannel,
  close: () => Promise<void>,
): Connection['send'] {
  /** Messages that wait to be confirmed, by their number; those that came back are set. */
  const returned = new Map<string, boolean>()
  let ended: Error | undefined
  let count = 0
  channel.on('return', ({ properties }) => {
    const { correlationId } = properties as { readonly correlationId?: string }
    if (correlationId !== undefined && returned.has(correlationId))
      returned.set(correlationId, true)
  })
  channel.on('error', (cause: Error) => {
    ended = cause
  })
  channel.on('close', () => void close())
  return (message) =>
    new Promise((resolve) => {
      const number = String((count += 1))
      returned.set(number, false)
      const settle = (outcome: DestinationOutcome): void => {
        returned.delete(number)
        resolve(outcome)
      }
      const confirmed = (cause: Error | null): void => {
        if (cause !== null) settle(outcomeOf(cause, ended))
        else settle(returned.get(number) === true ? refusedAs('unroutable') : { ok: true })
      }
      try {
        const { body } = message
        const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
        const key = routingKey ?? message.type
        channel.publish(exchange, key, bytes, propertiesOf(message, number), confirmed)
      } catch (cause) {
        settle(failureOf(ended ?? cause))
      }
    })
}

function propertiesOf(message: DestinationMessage, correlationId: string) {
  const { id, type, headers, event_id, account_id, webhook_id } = message
  return {
    persistent: true,
    mandatory: true,
    contentType: 'application/json',
    messageId: id,
    correlationId,
    type,
    headers: { ...headers, event_id, account_id, webhook_id },
  }
}

/** amqplib tells a negative confirmation, and a channel that ended, by their text. */
function outcomeOf(cause: Error, ended: Error | undefined): DestinationOutcome {
  if (cause.message === 'message nacked') return refusedAs('rejected')
  const refusal = refusalOf(ended)
  return refusal === undefined ? failureOf(ended ?? cause) : failureOf(refusal)
}

/** The server's reason, where it gave a code of AMQP; its text names an exchange or a user. */
function refusalOf(cause: unknown): RefusedError | undefined {
  const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string }
  const text = message ?? ''
  if (code === NOT_FOUND) return new RefusedError('no_such_exchange', text)
  const isRefused = typeof code === 'number' && NOT_PERMITTED.has(code)
  if (isRefused || /ACCESS[_-]REFUSED/.test(text)) return new RefusedError('not_permitted', text)
  return undefined
}
