/**
 * What a client of another SQL database or driver is made of: the store itself is written over it, in the dialect of
 * SQLite or of PostgreSQL.
 *
 * @example
 * import { openStore } from 'keyhook/plugins/store/sqlite'
 * import { SQLITE, createOneWriterClient } from 'keyhook/plugins/store/sql'
 *
 * const client = createOneWriterClient({ dialect: SQLITE, read, statement, transact, join, close })
 * const { store } = await openStore({ client })
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { createChanges } from '../../lib/engine/changes.ts'
import type { Kind } from '../../lib/internal/arguments.ts'
import {
  FUNCTION,
  TEXT,
  checked,
  declareArguments,
  oneOf,
  optional,
  optionsOf,
  recordOf,
} from '../../lib/internal/arguments.ts'
import { untilAged } from './hold.ts'
import { createTurns } from './turns.ts'
import { waitUnlessTaken } from './hold.ts'
import type { Dialect, Query, SqlClient, TransactionOptions } from './sql/client.ts'
import { createDialect } from './sql/postgres/dialect.ts'
import { SQLITE } from './sql/sqlite/dialect.ts'
import * as statements from './sql/sqlite/statement.ts'

export type {
  Dialect,
  Feed,
  Groups,
  Purpose,
  Query,
  SqlClient,
  TransactionOptions,
} from './sql/client.ts'
export { SQLITE } from './sql/sqlite/dialect.ts'
export type { Tables } from './sql/tables.ts'

/** Creates the dialect of PostgreSQL, for one client: it remembers where its claims have ended. */
export const createPostgresDialect: () => Dialect = checked(
  'createPostgresDialect',
  {},
  createDialect,
)

/** Converts `$2` of a statement of the store to `?2`, as SQLite numbers its parameters. */
export const numbered: (sql: string) => string = checked(
  'numbered',
  { sql: TEXT },
  statements.numbered,
)

const readParts = declareArguments('createOneWriterClient', {
  parts: optionsOf({
    dialect: recordOf({ name: oneOf('sqlite', 'postgres') }),
    read: FUNCTION,
    search: optional(FUNCTION),
    statement: FUNCTION,
    transact: FUNCTION,
    join: optional(FUNCTION),
    close: FUNCTION,
  } satisfies Record<keyof OneWriterParts, Kind>),
})

/** The parts of a client that differ between databases which one process writes. */
export interface OneWriterParts {
  readonly dialect: Dialect
  /** Reads what is committed. */
  readonly read: Query
  /** As `read`, for long searches. Default: `read`. */
  readonly search?: Query
  /** Runs a statement that commits by itself. */
  readonly statement: Query
  /** Runs one transaction: commits what `work` did, or rolls it back when `work` rejects. */
  transact<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** As in `SqlClient`. Default: none can be joined. */
  join?(transaction: unknown): Query
  /** Called once all work has ended. */
  close(): Promise<void>
}

/**
 * Creates the client of a database that only this process writes: everything that writes takes turns.
 *
 * @example
 * const client = createOneWriterClient({ dialect: SQLITE, read, statement, transact, join, close })
 * const { store } = await openStore({ client })
 */
export function createOneWriterClient(...args: readonly [parts: OneWriterParts]): SqlClient {
  const [parts] = readParts(args) as typeof args
  const { dialect, read, search = read, statement } = parts
  const turns = createTurns()
  const changes = createChanges()
  let closing: Promise<void> | undefined

  async function transact<T>(
    work: (query: Query) => Promise<T>,
    { changes: made, committed }: TransactionOptions,
  ): Promise<{ result: T; applied: Promise<void> | undefined }> {
    const result = await parts.transact(work)
    const applied = changes.emit(...(made?.() ?? []))
    committed?.()
    return { result, applied }
  }

  return {
    // One process: any other claim was made before it was started.
    dialect: { ...dialect, abandoned: SQLITE.abandoned },
    changes,
    claimant: randomUUID(),
    read,
    search,
    async transaction(work, options = {}) {
      const { result, applied } = await turns.take(() => transact(work, options))
      await waitUnlessTaken(applied, options)
      return result
    },
    exclusive: (_, work) => turns.take(() => work(statement)),
    join(transaction) {
      if (parts.join === undefined)
        throw new TypeError('no transaction of this database can be joined')
      return parts.join(transaction)
    },
    // Its one writer: reads have connections of their own.
    connectionUse() {
      const busy = Math.min(1, turns.size)
      return { busy, idle: 1 - busy, waiting: turns.size - busy, most: 1 }
    },
    hold: (work, { maxAge }) => turns.take(() => untilAged(work, maxAge)),
    close: () => (closing ??= turns.idle().then(() => parts.close())),
  }
}
