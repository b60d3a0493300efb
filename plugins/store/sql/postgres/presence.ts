import { randomUUID } from 'node:crypto'
import type { Acknowledgements } from '../../../../lib/engine/acknowledgements.ts'
import { createAcknowledgements } from '../../../../lib/engine/acknowledgements.ts'
import type { Change, OwnChanges } from '../../../../lib/engine/changes.ts'
import { LEASE, RENEW_EVERY, createLease } from '../../../../lib/engine/lease.ts'
import type { Instant, Millis } from '../../../../lib/time.ts'
import { MINUTE, SECOND } from '../../../../lib/time.ts'
import type { Query } from '../client.ts'
import type { Tables } from '../tables.ts'
import { keepEra } from './feed.ts'
import { channelOf, lockAgainstOlder, printNews, readNews } from './news.ts'
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
import type { Loan, PgNotification, PgSource } from './source.ts'
import { kernelError } from '../../../../lib/errors.ts'
import { queryOn } from './statement.ts'
import { lend } from './lend.ts'

/** One of the processes that share a database, as the others know it. */
export interface Presence {
  readonly id: string
  readonly changes: OwnChanges
  /** The database's time, as well as it is known here. */
  now(): Instant
  /** Joins the others; from here on it keeps its place by itself. */
  start(): Promise<void>
  /** Calls `listener` when work was told of: on lanes that are named, or anywhere. */
  watch(listener: (webhookIds?: readonly string[]) => void): () => void
  /** Tells the others of work. */
  announce(webhookIds: readonly string[]): void
  /** Records what a unit of work changed, as the last thing before its commit. */
  record(query: Query, changes: readonly Change[]): Promise<RecordedChange>
  /**
   * After the commit: resolves once every other process knows, or can no longer go by what it keeps;
   * answers those that did not say so.
   */
  known(recorded: RecordedChange): Promise<readonly string[]>
  /** The same for what was committed before: whoever made it may have died before all knew. */
  allKnown(): Promise<readonly string[]>
  end(): Promise<void>
}

const FIRST_DELAY: Millis = 50
const LONGEST_DELAY: Millis = SECOND
const SWEEP_EVERY: Millis = MINUTE
/** Announcements of lanes are gathered for this long: telling takes a lock of the whole server. */
const GATHER: Millis = 20
/** A message holds at most 8,000 bytes; beyond this many lanes it names none. */
const MOST_NAMED = 100

const ignore = (): void => undefined

/** What the database's clock said when the steady one stood at `at`, to within so much. */
interface Reading {
  readonly now: Instant
  readonly at: Millis
  readonly within: Millis
}

/** By how much clocks drift apart in a millisecond, at most. */
const DRIFT = 1 / 1000

/** An answer that came quickly says more than one that waited, until it is too long ago. */
function better(kept: Reading, next: Reading): Reading {
  return next.within <= kept.within + (next.at - kept.at) * DRIFT ? next : kept
}

/**
 * Keeps this process's lease over a connection of its own, on which it also hears of news.
 *
 * While that is broken nothing kept is used and nothing is told, but reads and writes go on: each
 * statement carries its own guard.
 */
export function createPresence(source: PgSource, t: Tables): Presence {
  const id = randomUUID()
  const channel = channelOf(t)
  const steady = (): Millis => performance.now()
  const listeners = new Set<(webhookIds?: readonly string[]) => void>()
  const gathered = new Set<string>()
  let loan: Loan | undefined
  let isEnded = false
  let beat: NodeJS.Timeout | undefined
  let rejoining: Promise<void> = Promise.resolve()
  /** Ends the rest between two tries to join: its timer keeps no process alive, and nobody else's may. */
  let wake = (): void => undefined
  let announcing: NodeJS.Timeout | undefined
  let swept = -Infinity
  let seen: Reading = { now: Date.now(), at: steady(), within: Infinity }

  const held = (): Loan => {
    if (loan === undefined) throw kernelError('unavailable', { internal: 'no connection is held' })
    return loan
  }

  const lease = createLease(
    {
      async renew(seq) {
        const asked = steady()
        const round = await renewLease(held().client, t, id, seq)
        seen = better(seen, {
          now: round.now,
          at: (asked + steady()) / 2,
          within: steady() - asked,
        })
        return round
      },
      acknowledge: (seq) => acknowledge(held().client, t, { id, seq, channel }),
    },
    { now: Date.now, steady },
  )

  const acknowledgements: Acknowledgements = createAcknowledgements(
    (ids) => lend(source, (client) => acknowledgedBy(queryOn(client), t, ids)),
    (delay, run) => {
      const timer = setTimeout(run, delay)
      return () => {
        clearTimeout(timer)
      }
    },
  )

  const lose = (cause = new Error('the connection ended')): void => {
    if (loan === undefined || isEnded) return
    drop(cause)
    rejoining = rejoin()
  }
  const hear = (message: PgNotification): void => {
    if (message.channel !== channel) return
    const news = readNews(message.payload ?? '')
    if (news.kind === 'known') acknowledgements.note(news.id, news.seq)
    else if (news.kind === 'changed') renew()
    else if (news.kind === 'committed') tell()
    else if (news.from !== id) tell(news.webhookIds)
  }
  const tell = (webhookIds?: readonly string[]): void => {
    for (const listener of listeners) listener(webhookIds)
  }
  const renew = (): void => {
    lease.renew().catch(lose)
  }

  async function join(): Promise<void> {
    const taken = await source.borrow()
    const query = queryOn(taken.client)
    // A connection may break at any moment; unheard, that would end the process.
    taken.client.on('error', ignore)
    try {
      await lockAgainstOlder(query, t)
      await query(`LISTEN ${channel}`)
      loan = taken
      await lease.renew()
    } catch (cause) {
      loan = undefined
      // Closed rather than lent again: it listens, and holds a lock.
      taken.giveBack(new Error('not joined', { cause }))
      throw cause
    }
    taken.client.on('error', lose)
    taken.client.on('end', lose)
    taken.client.on('notification', hear)
    taken.client.off('error', ignore)
    keepRenewing()
  }

  function drop(broken: Error): void {
    clearTimeout(beat)
    if (loan === undefined) return
    const { client, giveBack } = loan
    loan = undefined
    giveBack(broken)
    client.off('notification', hear)
    client.off('end', lose)
    client.off('error', lose)
  }

  /** A renewal that is not answered within a lease has lost its connection. */
  function keepRenewing(): void {
    beat = setTimeout(() => {
      beat = setTimeout(lose, LEASE, new Error('the connection does not answer')).unref()
      lease
        .renew()
        .then(sweepNowAndThen)
        .then(() => {
          clearTimeout(beat)
          if (loan !== undefined) keepRenewing()
        })
        .catch(lose)
    }, RENEW_EVERY).unref()
  }

  async function sweepNowAndThen(): Promise<void> {
    if (loan === undefined || steady() - swept < SWEEP_EVERY) return
    swept = steady()
    await sweep(loan.client, t)
  }

  async function rejoin(): Promise<void> {
    for (let delay = FIRST_DELAY; !isEnded; delay = Math.min(2 * delay, LONGEST_DELAY)) {
      const isJoined = await join().then(
        () => true,
        () => false,
      )
      if (isJoined) {
        // The server may have been moved, and news may have gone unheard.
        await lend(source, (client) => keepEra(queryOn(client), t)).catch(() => undefined)
        tell()
        return
      }
      if (isEnded) return
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, delay).unref()
      })
    }
  }

  async function tellOthers(): Promise<void> {
    announcing = undefined
    const webhookIds = [...gathered]
    gathered.clear()
    if (loan === undefined) return
    const named = webhookIds.length > MOST_NAMED ? [] : webhookIds
    // Not over the connection that is held, which may be renewing the lease.
    await lend(source, (client) =>
      queryOn(client)('SELECT pg_notify($1, $2)', [channel, printNews(id, named)]),
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
      for (const webhookId of webhookIds) gathered.add(webhookId)
      // The others look by themselves now and then, so that what fails here costs time alone.
      announcing ??= setTimeout(() => void tellOthers().catch(() => undefined), GATHER).unref()
    },
    record: (query, changes) => recordChange(query, t, { id, changes, channel }),
    known: ({ seq, holders }) => acknowledgements.wait(seq, holders),
    async allKnown() {
      const { seq, holders } = await lend(source, (client) => lastChange(queryOn(client), t))
      return acknowledgements.wait(seq, holders)
    },
    async end() {
      isEnded = true
      lease.end()
      clearTimeout(announcing)
      wake()
      await rejoining
      const last = loan
      // Whoever changes something need not wait for this process any more.
      await (last && leave(last.client, t, id).catch(() => undefined))
      drop(new Error('left'))
    },
  }
}
