import pRetry from 'p-retry'
import { createLimiter } from '../../lib/internal/limiter.ts'
import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { DestinationMessage, DestinationOutcome } from './contract.ts'
import { failureOf } from './failures.ts'

/** Maximum time in which a connection is opened: shorter than an attempt. */
export const CONNECT_TIMEOUT: Millis = 5 * SECOND
/** Maximum messages of one destination that the server has not confirmed. */
const MAX_UNCONFIRMED = 64
/** More attempts to connect are those of the deliveries. */
const RECONNECT = { retries: 2, minTimeout: 100, maxTimeout: SECOND, randomize: true } as const

/** An open connection to a server that the operator declared. */
export interface Connection {
  /** Resolves once the server has confirmed the message, or has refused it. */
  send(message: DestinationMessage): Promise<DestinationOutcome>
  /** Resolves even when the server does not answer. */
  close(): Promise<void>
}

/**
 * Opens a connection to the declared address.
 *
 * @param lost called once the connection cannot be used any more
 */
export type Connect = (lost: () => void) => Promise<Connection>

export interface Publisher {
  send(message: DestinationMessage, signal: AbortSignal): Promise<DestinationOutcome>
  close(): Promise<void>
}

const ABORTED: DestinationOutcome = { ok: false, code: 'aborted' }

/** Sends over one connection, which is opened when there is something to send. */
export function createPublisher(connect: Connect): Publisher {
  const closing = new AbortController()
  // A message keeps its place until the server has answered, also when nobody waits for that any more.
  const limit = createLimiter(MAX_UNCONFIRMED)
  let current: Promise<Connection> | undefined

  function connected(): Promise<Connection> {
    if (current !== undefined) return current
    const lost = (): void => {
      if (current === opening) current = undefined
    }
    const opening = pRetry(() => connectOnce(lost), { ...RECONNECT, signal: closing.signal })
    current = opening
    opening.catch(lost)
    return opening
  }

  async function connectOnce(lost: () => void): Promise<Connection> {
    try {
      const opened = await connect(lost)
      if (closing.signal.aborted) await opened.close()
      return opened
    } catch (cause) {
      // pRetry takes a TypeError for a mistake of the program and gives up.
      throw cause instanceof TypeError ? new Error(cause.message, { cause }) : cause
    }
  }

  async function send(
    message: DestinationMessage,
    signal: AbortSignal,
  ): Promise<DestinationOutcome> {
    if (signal.aborted) return ABORTED
    const connection = await connected()
    return signal.aborted ? ABORTED : connection.send(message)
  }

  return {
    async send(message, given) {
      const signal = AbortSignal.any([given, closing.signal])
      try {
        return await orAborted(
          limit(() => send(message, signal)),
          signal,
        )
      } catch (cause) {
        return signal.aborted ? ABORTED : failureOf(cause)
      }
    },
    async close() {
      closing.abort(new Error('the destination is closed'))
      const opened = await current?.catch(() => undefined)
      await opened?.close()
    },
  }
}
