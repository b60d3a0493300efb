import { kernelError } from '../../../lib/errors.ts'
import { createTurns } from '../turns.ts'
import type { Query, SqlClient } from './client.ts'
import { connectionOf, isObject } from './joined.ts'
import { POSTGRES } from './postgres/dialect.ts'
import { lend } from './postgres/lend.ts'
import type { Serving } from './postgres/serving.ts'
import { channelOf, lockOf } from './postgres/session.ts'
import type { PgClient, PgSource } from './postgres/source.ts'
import { LOCK_WAIT, ask, codeOf, queryOn } from './postgres/statement.ts'
import type { Tables } from './tables.ts'

const NO_TRANSACTION = '25P01'

/**
 * The client over PostgreSQL: one writer in this process, its connections from `source`.
 *
 * Units of work exclude each other by a lock of the database too, since the writer of a process that
 * lost it may not know yet.
 */
export function openPostgres(
  source: PgSource,
  t: Tables,
  serving: Pick<Serving, 'assert' | 'watch' | 'end'>,
): SqlClient {
  const turns = createTurns()
  const begin = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL lock_timeout = '${LOCK_WAIT}';
    SELECT pg_advisory_xact_lock(${lockOf(t, 'writing')})`

  function write<T>(work: (client: PgClient) => Promise<T>): Promise<T> {
    return turns.take(async () => {
      serving.assert()
      return lend(source, work)
    })
  }

  async function transact<T>(client: PgClient, work: (query: Query) => Promise<T>): Promise<T> {
    try {
      await ask(client, { text: begin })
      const result = await work(queryOn(client))
      const { command } = await ask(client, { text: 'COMMIT' })
      // After a statement failed, COMMIT rolls back and calls that no error.
      if (command !== 'COMMIT') throw new Error('a statement of this unit of work had failed')
      return result
    } catch (cause) {
      await ask(client, { text: 'ROLLBACK' }).catch((fault: unknown) => {
        throw kernelError('unavailable', { cause, internal: `not rolled back: ${String(fault)}` })
      })
      throw cause
    }
  }

  return {
    dialect: POSTGRES,
    read(sql, bind) {
      serving.assert()
      return lend(source, (client) => queryOn(client)(sql, bind))
    },
    transaction: (work, committed = () => undefined) =>
      write(async (client) => {
        const result = await transact(client, work)
        committed()
        return result
      }),
    exclusive: (work) => write((client) => work(queryOn(client))),
    join: (transaction) => joinOn(connectionOf(transaction, isPgClient), t),
    watch: (listener) => serving.watch(listener),
    async close() {
      await turns.idle()
      await serving.end()
      await source.end()
    },
  }
}

/**
 * Before every write it says that there will be news: the server tells of all of them once, after the
 * commit, or never.
 */
function joinOn(client: PgClient, t: Tables): Query {
  const query = queryOn(client)
  // A savepoint can only be set inside a transaction.
  const announce = `SAVEPOINT keyhook; RELEASE SAVEPOINT keyhook; NOTIFY ${channelOf(t)}`
  return async (sql, bind) => {
    if (!/^\s*SELECT/.test(sql)) await ask(client, { text: announce }).catch(refuse)
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
