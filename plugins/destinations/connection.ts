import { setMaxListeners } from 'node:events'
import pRetry from 'p-retry'
import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { DestinationMessage, DestinationOutcome } from './contract.ts'
import { failureOf } from './failures.ts'
import { createPlaces } from './places.ts'

/** Maximum time in which a connection is opened: shorter than an attempt. */
export const CONNECT_TIMEOUT: Millis = 5 * SECOND
/** Maximum messages of one destination that the server has not confirmed. */
const MAX_UNCONFIRMED = 64
const CONFIRMED_WITHIN: Millis = 30 * SECOND
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

/** A connection, and the moment from which it cannot be used. */
interface Opened extends Connection {
  readonly lost: Promise<void>
}

/**
 * Sends over one connection, which is opened when there is something to send.
 *
 * @param confirmedWithin a connection with a message that is not confirmed by then is closed
 */
export function createPublisher(
  connect: Connect,
  confirmedWithin: Millis = CONFIRMED_WITHIN,
): Publisher {
  const closing = new AbortController()
  // One for each send.
  setMaxListeners(0, closing.signal)
  // A message keeps its place until the server has answered, also when nobody waits for that any more.
  const places = createPlaces(MAX_UNCONFIRMED)
  let current: Promise<Opened> | undefined

  function connected(): Promise<Opened> {
    if (current !== undefined) return current
    const opening = pRetry(connectOnce, { ...RECONNECT, signal: closing.signal })
    const forget = (): void => {
      if (current === opening) current = undefined
    }
    current = opening
    // An attempt that fails is repeated by pRetry: only the end of all of them lets another send begin again.
    opening.then(async (opened) => {
      await opened.lost
      forget()
      await opened.close()
    }, forget)
    return opening
  }

  async function connectOnce(): Promise<Opened> {
    try {
      let lose = (): void => undefined
      const lost = new Promise<void>((resolve) => {
        lose = resolve
      })
      const opened = await connect(lose)
      if (closing.signal.aborted) await opened.close()
      return { ...opened, lost }
    } catch (cause) {
      // pRetry takes a TypeError for a mistake of the program and gives up.
      throw cause instanceof TypeError ? new Error(cause.message, { cause }) : cause
    }
  }

  async function transmit(
    message: DestinationMessage,
    signal: AbortSignal,
  ): Promise<DestinationOutcome> {
    const connection = await connected()
    if (signal.aborted) return ABORTED
    // A server that lives and does not confirm would keep the place for good.
    const late = setTimeout(() => void connection.close(), confirmedWithin)
    try {
      return await connection.send(message)
    } finally {
      clearTimeout(late)
    }
  }

  return {
    async send(message, given) {
      const { signal, unlink } = linked(given, closing.signal)
      try {
        const giveBack = await places.take(message.account_id, signal)
        return await orAborted(transmit(message, signal).finally(giveBack), signal)
      } catch (cause) {
        return signal.aborted ? ABORTED : failureOf(cause)
      } finally {
        unlink()
      }
    },
    async close() {
      closing.abort(new Error('the destination is closed'))
      const opened = await current?.catch(() => undefined)
      await opened?.close()
    },
  }
}

/** Aborts with either. `AbortSignal.any` would leave something behind at the longer-lived one for each call. */
function linked(...signals: readonly AbortSignal[]): {
  readonly signal: AbortSignal
  readonly unlink: () => void
} {
  const controller = new AbortController()
  const abort = (event: Event): void => {
    controller.abort((event.target as AbortSignal).reason)
  }
  for (const one of signals) {
    if (one.aborted) controller.abort(one.reason)
    one.addEventListener('abort', abort, { once: true })
  }
  return {
    signal: controller.signal,
    unlink() {
      for (const one of signals) one.removeEventListener('abort', abort)
    },
  }
}
