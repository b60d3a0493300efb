import { setTimeout as delay } from 'node:timers/promises'
import pRetry from 'p-retry'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { OutboxSource } from '../../plugins/outbox/contract.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { RowPublisher } from './outbox/publish-rows.ts'
import { createRowPublisher } from './outbox/publish-rows.ts'
import type { OutboxStatus } from './outbox/status.ts'

/** Pause while the store cannot commit: shorter than an account is held. */
const PAUSE: Millis = SECOND
/** First and longest pause before the next attempt to connect. */
const RECONNECT = { first: SECOND / 2, longest: 15 * SECOND } as const

export interface OutboxWork {
  /** Opens the outbox of the settings. */
  readonly open: () => Promise<OutboxSource>
  readonly platform: Platform
  /** Whether an account must have been created before events are published for it. */
  readonly hasAccounts: boolean
  readonly status: OutboxStatus
  readonly log: Log
}

/**
 * Publishes what the backend's transactions commit to the outbox, until it is stopped. While the outbox
 * cannot be reached, everything else goes on: it connects again and again.
 */
export function startOutbox(work: OutboxWork): { stop(): Promise<void> } {
  const { open, platform, hasAccounts, status, log } = work
  const stopping = new AbortController()
  const { signal } = stopping
  const publisher = createRowPublisher({
    platform,
    hasAccounts,
    counts: status.counts,
    onUnexplained({ id }, cause) {
      log.error({ err: cause, event_id: id }, 'outbox.failed: a row waits and is tried again')
    },
    onRefused(refused) {
      const [first] = refused
      log.warn(
        { rows: refused.length, code: first?.code, event_id: first?.id, reason: first?.reason },
        'outbox.refused: rows of the outbox are kept with the reason',
      )
    },
  })

  let source: OutboxSource | undefined

  async function disconnect(): Promise<void> {
    const closing = source
    source = undefined
    status.connected = false
    await closing?.close()
  }

  /** An error of the first look fails the connection too, so that it is not repeated without a pause. */
  async function connect(): Promise<OutboxSource> {
    try {
      source = await open()
      status.connected = true
      await takeAll(source, publisher, signal)
      return source
    } catch (cause) {
      await disconnect()
      // pRetry takes a TypeError for a mistake of the program and gives up.
      throw cause instanceof TypeError ? new Error(cause.message, { cause }) : cause
    }
  }

  async function run(): Promise<void> {
    let lastError: string | undefined
    while (!signal.aborted) {
      const connected = await pRetry(connect, {
        retries: Infinity,
        minTimeout: RECONNECT.first,
        maxTimeout: RECONNECT.longest,
        randomize: true,
        signal,
        onFailedAttempt({ error }) {
          const level = error.message === lastError ? 'debug' : 'warn'
          lastError = error.message
          log[level]({ err: error }, 'outbox.unreachable: retrying')
        },
      })
      lastError = undefined
      log.info('outbox.connected')
      try {
        while (!signal.aborted) {
          await connected.available(signal)
          await takeAll(connected, publisher, signal)
        }
      } catch (cause) {
        log.warn({ err: cause }, 'outbox.lost: connecting again')
      }
      await disconnect()
    }
  }

  const running = run().catch((cause: unknown) => {
    if (!signal.aborted) log.error({ err: cause }, 'outbox.stopped')
  })
  return {
    async stop() {
      stopping.abort()
      await running
      await disconnect()
    },
  }
}

/** Publishes until nothing is left but rows of accounts that are held. */
async function takeAll(
  source: OutboxSource,
  publisher: RowPublisher,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let isStalled = false
    const taken = await source.take(async (rows) => {
      const outcomes = await publisher.publish(rows)
      const held = new Set(publisher.held())
      // Without the accounts that are held now, the next rows are others: only the store is waited for.
      isStalled =
        outcomes.every((outcome) => outcome === 'waits') &&
        !rows.some(({ account_id }) => held.has(account_id))
      return outcomes
    }, publisher.held())
    if (taken === 0) return
    if (isStalled) await delay(PAUSE, undefined, { signal }).catch(() => undefined)
  }
}
