import type { Change } from '../../../lib/engine/changes.ts'
import { kernelError } from '../../../lib/errors.ts'
import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'
import { waitUnlessTaken } from '../hold.ts'
import type { Turns } from '../turns.ts'
import { createTurns } from '../turns.ts'
import type { Purpose, Query, SqlClient, TransactionOptions } from './client.ts'
import { connectionOf, isObject } from './joined.ts'
import { createDialect } from './postgres/dialect.ts'
import { withConnection } from './postgres/with-connection.ts'
import { channelOf, lockAgainstAll, lockOf } from './postgres/notifications.ts'
import type { Membership } from './postgres/membership.ts'
import type { RecordedChange } from './postgres/processes.ts'
import type { PgClient, PgSource } from './postgres/source.ts'
import { LOCK_WAIT, ask, codeOf, queryOn } from './postgres/statement.ts'
import type { Tables } from './tables.ts'

const NO_TRANSACTION = '25P01'
/** Maximum time that a process suspended inside a unit blocks the writes of others. */
const STALLED: Millis = 3 * SECOND

/**
 * Creates the client of PostgreSQL, with connections from `source`.
 *
 * An advisory lock serializes the units of work of all processes. Single statements have their own guards
 * and run concurrently.
 */
export function openPostgres(source: PgSource, t: Tables, membership: Membership): SqlClient {
  const units = createTurns()
  const purposes = new Map<Purpose, Turns>()
  const silence: ((processes: readonly string[]) => void)[] = []
  let closing: Promise<void> | undefined

  function turnsOf(purpose: Purpose): Turns {
    const turns = purposes.get(purpose) ?? createTurns()
    purposes.set(purpose, turns)
    return turns
  }

  async function transact<T>(
    client: PgClient,
    work: (query: Query) => Promise<T>,
    { changes, maxWait = LOCK_WAIT }: TransactionOptions,
  ): Promise<{ result: T; made: readonly Change[]; recorded: RecordedChange | undefined }> {
    try {
      // The statement waits this long for the lock; the response may take longer.
      await ask(client, { text: begin(t, maxWait), query_timeout: 2 * maxWait })
      const query = queryOn(client, maxWait - LOCK_WAIT)
      const result = await work(query)
      const made = changes?.() ?? []
      const recorded = made.length === 0 ? undefined : await membership.record(query, made)
      const { command } = await ask(client, { text: 'COMMIT' })
      // After a failed statement, COMMIT rolls back without an error.
      if (command !== 'COMMIT') throw new Error('a statement of this unit of work had failed')
      return { result, made, recorded }
    } catch (cause) {
      await ask(client, { text: 'ROLLBACK' }).catch((fault: unknown) => {
        throw kernelError('unavailable', { cause, internal: `not rolled back: ${String(fault)}` })
      })
      throw cause
    }
  }

  async function known(recorded: RecordedChange | undefined): Promise<void> {
    const silent = await (recorded === undefined
      ? membership.allKnown()
      : membership.known(recorded))
    if (silent.length > 0) for (const listener of silence) listener(silent)
  }

  async function close(): Promise<void> {
    await Promise.all([units, ...purposes.values()].map((turns) => turns.idle()))
    await membership.end()
    await source.end()
  }

  const read: Query = (sql, bind) => withConnection(source, (client) => queryOn(client)(sql, bind))

  return {
    dialect: createDialect(),
    changes: membership.changes,
    claimant: membership.id,
    now: () => membership.now(),
    announce: (webhookIds) => {
      membership.announce(webhookIds)
    },
    read,
    search: read,
    async transaction(work, options = {}) {
      const unit = units.take(() =>
        withConnection(source, async (client) => {
          const done = await transact(client, work, options)
          const passed = membership.changes.emit(...done.made)
          options.committed?.()
          return { ...done, passed }
        }),
      )
      // Others may write meanwhile. This waits until no process uses the older state, whether this unit
      // changed it or a process that ended before all others acknowledged its change.
      const { result, recorded, passed } = await unit.catch(async (cause: unknown) => {
        await known(undefined).catch(() => undefined)
        throw cause
      })
      await waitUnlessTaken(Promise.all([known(recorded), passed]), options)
      return result
    },
    exclusive: (purpose, work) =>
      turnsOf(purpose).take(() => withConnection(source, (client) => work(queryOn(client)))),
    join: (transaction) => joinOn(connectionOf(transaction, isPgClient), t),
    watch: (listener) => membership.watch(listener),
    onSilence(listener) {
      silence.push(listener)
    },
    connectionUse: () => source.use?.(),
    requireAlone: (query) => lockAgainstAll(query, t),
    close: () => (closing ??= close()),
  }
}

function begin(t: Tables, maxWait: Millis): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL lock_timeout = ${maxWait};
    SET LOCAL idle_in_transaction_session_timeout = ${STALLED};
    SELECT pg_advisory_xact_lock(${lockOf(t, 'writing')})`
}

/** Reads, and what ends a savepoint: the transaction may be one that failed, in which nothing else is possible. */
const UNANNOUNCED = /^\s*(SELECT|RELEASE|ROLLBACK TO)/

/**
 * Announces a notification before every write: the server sends one for all of them, after the commit, or
 * none after a rollback.
 */
function joinOn(client: PgClient, t: Tables): Query {
  const query = queryOn(client)
  // A savepoint can only be set inside a transaction.
  const announce = `SAVEPOINT keyhook; RELEASE SAVEPOINT keyhook; NOTIFY ${channelOf(t)}`
  return async (sql, bind) => {
    if (!UNANNOUNCED.test(sql)) await ask(client, { text: announce }).catch(refuse)
    return query(sql, bind)
  }
}

function refuse(cause: unknown): never {
  throw codeOf(cause) === NO_TRANSACTION
    ? new TypeError('the connection is in no transaction', { cause })
    : cause
}

function isPgClient(value: unknown): value is PgClient {
  return isObject(value) && 'processID' in value && typeof value['query'] === 'function'
}
