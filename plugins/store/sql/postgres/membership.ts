import { randomUUID } from 'node:crypto'
import type { Acknowledgements } from '../../../../lib/engine/acknowledgements.ts'
import { createAcknowledgements } from '../../../../lib/engine/acknowledgements.ts'
import type { Change, OwnChanges } from '../../../../lib/engine/changes.ts'
import { LEASE, RENEW_EVERY, createLease } from '../../../../lib/engine/lease.ts'
import type { Instant, Millis } from '../../../../lib/time.ts'
import { MINUTE, SECOND } from '../../../../lib/time.ts'
import type { Query } from '../client.ts'
import type { Tables } from '../tables.ts'
import { keepEpoch } from './feed.ts'
import {
  channelOf,
  lockAgainstOlder,
  printNotification,
  readNotification,
} from './notifications.ts'
import type { RecordedChange } from './processes.ts'
import {
  acknowledge,
  acknowledgedBy,
  lastChange,
  leave,
  recordChange,
  renewLease,
  sweep,
} from './processes.ts'
import type { ConnectionLease, PgNotification, PgSource } from './source.ts'
import { kernelError } from '../../../../lib/errors.ts'
import { queryOn } from './statement.ts'
import { withConnection } from './with-connection.ts'

/** The membership of this process among those that share a database. */
export interface Membership {
  readonly id: string
  readonly changes: OwnChanges
  /** Estimate of the database's clock. */
  now(): Instant
  /** Joins; from then on the membership renews itself. */
  start(): Promise<void>
  /** Calls `listener` on notifications of available work: of the named webhooks, or of any. */
  watch(listener: (webhookIds?: readonly string[]) => void): () => void
  /** Notifies the other processes of available work. */
  announce(webhookIds: readonly string[]): void
  /** Records the changes of a unit of work, as its last statement before the commit. */
  record(query: Query, changes: readonly Change[]): Promise<RecordedChange>
  /**
   * After the commit: resolves once every other process acknowledged the changes, or its cache lease
   * expired; returns the ids that did not acknowledge.
   */
  known(recorded: RecordedChange): Promise<readonly string[]>
  /** As `known`, for the last committed change: its process may have ended before all acknowledged it. */
  allKnown(): Promise<readonly string[]>
  end(): Promise<void>
}

const FIRST_DELAY: Millis = 50
const MAX_DELAY: Millis = SECOND
const SWEEP_EVERY: Millis = MINUTE
/** Notifications of work are collected for this long: NOTIFY takes a lock of the whole server. */
const COLLECT_FOR: Millis = 20
/** A payload has at most 8,000 bytes; with more webhooks than this it names none. */
const MAX_NAMED = 100

const ignore = (): void => undefined

/** A reading of the database's clock at the monotonic time `at`, with its maximum error. */
interface Reading {
  readonly now: Instant
  readonly at: Millis
  readonly within: Millis
}

/** Maximum drift of two clocks, in milliseconds per millisecond. */
const DRIFT = 1 / 1000

/** The more accurate of two readings; the error of the older one grows with its age. */
function better(kept: Reading, next: Reading): Reading {
  return next.within <= kept.within + (next.at - kept.at) * DRIFT ? next : kept
}

/**
 * Keeps the lease of this process over a dedicated connection, which also receives notifications.
 *
 * While that connection is broken no cache is used and no notification is sent, but reads and writes
 * continue: each statement has its own guard.
 */
export function createMembership(source: PgSource, t: Tables): Membership {
  const id = randomUUID()
  const channel = channelOf(t)
  const steady = (): Millis => performance.now()
  const listeners = new Set<(webhookIds?: readonly string[]) => void>()
  const pending = new Set<string>()
  let connection: ConnectionLease | undefined
  let isEnded = false
  let beat: NodeJS.Timeout | undefined
  let rejoining: Promise<void> = Promise.resolve()
  /** Ends the pause between two attempts to join, whose timer does not keep the process alive. */
  let endPause = (): void => undefined
  let announcing: NodeJS.Timeout | undefined
  let sweptAt = -Infinity
  let seen: Reading = { now: Date.now(), at: steady(), within: Infinity }

  const current = (): ConnectionLease => {
    if (connection === undefined)
      throw kernelError('unavailable', { internal: 'no connection is held' })
    return connection
  }

  const lease = createLease(
    {
      async renew(state) {
        const asked = steady()
        const round = await renewLease(current().client, t, id, state)
        seen = better(seen, {
          now: round.now,
          at: (asked + steady()) / 2,
          within: steady() - asked,
        })
        return round
      },
      acknowledge: (seq) => acknowledge(current().client, t, { id, seq, channel }),
    },
    { now: Date.now, steady },
  )

  const acknowledgements: Acknowledgements = createAcknowledgements(
    (ids) => withConnection(source, (client) => acknowledgedBy(queryOn(client), t, ids)),
    (delay, run) => {
      const timer = setTimeout(run, delay)
      return () => {
        clearTimeout(timer)
      }
    },
  )

  const lose = (cause = new Error('the connection ended')): void => {
    if (connection === undefined || isEnded) return
    drop(cause)
    rejoining = rejoin()
  }
  const receive = (message: PgNotification): void => {
    if (message.channel !== channel) return
    const notification = readNotification(message.payload ?? '')
    if (notification.kind === 'known') acknowledgements.record(notification.id, notification.seq)
    else if (notification.kind === 'changed') renew()
    else if (notification.kind === 'committed') emit()
    else if (notification.from !== id) emit(notification.webhookIds)
  }
  const emit = (webhookIds?: readonly string[]): void => {
    for (const listener of listeners) listener(webhookIds)
  }
  const renew = (): void => {
    lease.renew().catch(lose)
  }

  async function join(): Promise<void> {
    const taken = await source.acquire()
    const query = queryOn(taken.client)
    // A connection may break at any moment. Without a listener that would end the process.
    taken.client.on('error', ignore)
    try {
      await lockAgainstOlder(query, t)
      await query(`LISTEN ${channel}`)
      connection = taken
      await lease.renew()
    } catch (cause) {
      connection = undefined
      // Closed, not reused: it listens and holds a lock.
      taken.release(new Error('not joined', { cause }))
      throw cause
    }
    taken.client.on('error', lose)
    taken.client.on('end', lose)
    taken.client.on('notification', receive)
    taken.client.off('error', ignore)
    keepRenewing()
  }

  function drop(broken: Error): void {
    clearTimeout(beat)
    if (connection === undefined) return
    const { client, release } = connection
    connection = undefined
    release(broken)
    client.off('notification', receive)
    client.off('end', lose)
    client.off('error', lose)
  }

  /** A renewal without a response within a lease means that the connection is lost. */
  function keepRenewing(): void {
    beat = setTimeout(() => {
      beat = setTimeout(lose, LEASE, new Error('the connection does not answer')).unref()
      lease
        .renew()
        .then(sweepNowAndThen)
        .then(() => {
          clearTimeout(beat)
          if (connection !== undefined) keepRenewing()
        })
        .catch(lose)
    }, RENEW_EVERY).unref()
  }

  async function sweepNowAndThen(): Promise<void> {
    if (connection === undefined || steady() - sweptAt < SWEEP_EVERY) return
    sweptAt = steady()
    await sweep(connection.client, t)
  }

  async function rejoin(): Promise<void> {
    for (let delay = FIRST_DELAY; !isEnded; delay = Math.min(2 * delay, MAX_DELAY)) {
      const isJoined = await join().then(
        () => true,
        () => false,
      )
      if (isJoined) {
        // The database may have moved to another cluster, and notifications may have been lost.
        await withConnection(source, (client) => keepEpoch(queryOn(client), t)).catch(
          () => undefined,
        )
        emit()
        return
      }
      if (isEnded) return
      await new Promise<void>((resolve) => {
        endPause = resolve
        setTimeout(resolve, delay).unref()
      })
    }
  }

  async function notifyOthers(): Promise<void> {
    announcing = undefined
    const webhookIds = [...pending]
    pending.clear()
    if (connection === undefined) return
    const named = webhookIds.length > MAX_NAMED ? [] : webhookIds
    // Not over the dedicated connection, which may be renewing the lease.
    await withConnection(source, (client) =>
      queryOn(client)('SELECT pg_notify($1, $2)', [channel, printNotification(id, named)]),
    )
  }

  return {
    id,
    changes: lease.changes,
    now: () => Math.floor(seen.now + steady() - seen.at),
    start: join,
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    announce(webhookIds) {
      for (const webhookId of webhookIds) pending.add(webhookId)
      // The other processes also poll, so a failure here only costs time.
      announcing ??= setTimeout(
        () => void notifyOthers().catch(() => undefined),
        COLLECT_FOR,
      ).unref()
    },
    record: (query, changes) => recordChange(query, t, { id, changes, channel }),
    known: ({ seq, holders }) => acknowledgements.wait(seq, holders),
    async allKnown() {
      const { seq, holders } = await withConnection(source, (client) =>
        lastChange(queryOn(client), t),
      )
      return acknowledgements.wait(seq, holders)
    },
    async end() {
      isEnded = true
      lease.end()
      clearTimeout(announcing)
      endPause()
      await rejoining
      const last = connection
      await (last && leave(last.client, t, id).catch(() => undefined))
      drop(new Error('left'))
    },
  }
}
