/**
 * Records of a family of a third party: tables of its own, beside the platform's in the same database and in the same
 * unit of work.
 *
 * @module
 */
import type { Kind } from '../../../lib/internal/arguments.ts'
import {
  FUNCTION,
  anyListOf,
  declareArguments,
  listOf,
  optionsOf,
  recordOf,
} from '../../../lib/internal/arguments.ts'
import type { Query } from '../../store/sql/client.ts'

/** The two databases, where a statement differs between them. */
export interface RecordDialect {
  readonly name: 'sqlite' | 'postgres'
  /** Column type of identifiers, compared bytewise. */
  readonly id: string
  /** Column type of raw bytes. */
  readonly bytes: string
}

/** One step of the schema. Append-only: a step that was released is never edited or removed. */
export interface RecordMigration<Table extends string = string> {
  /** `0001-notes` */
  readonly name: string
  /** Its statements: they create, change and fill tables of the family alone. */
  up(tables: Readonly<Record<Table, string>>, dialect: RecordDialect): readonly string[]
}

export interface Records<Table extends string = string> {
  /** Name of the family. */
  readonly family: string
  /** Names of its tables: in the database, `notes` is `keyhook_x_<family>_notes`. */
  readonly tables: readonly Table[]
  readonly migrations: readonly RecordMigration<Table>[]
}

/** Statements on the tables of a family. */
export interface RecordSql<Table extends string = string> {
  /**
   * Runs one statement. Values are bound by position ($1, $2, …) and never become text of it. It must neither begin
   * nor end a transaction.
   */
  readonly query: Query
  /** The names of the tables in the database. */
  readonly tables: Readonly<Record<Table, string>>
  readonly dialect: RecordDialect
}

/** Where statements on the tables of a family run. */
export interface RecordAccess {
  /**
   * Of a unit of work: in its transaction, together with its events, audit rows and idempotency record. Of the
   * store: reads of what is committed.
   */
  sql<Table extends string>(records: Records<Table>): RecordSql<Table>
}

/** Without `_`: the names of two families can then never give the same name of a table. */
export const FAMILY_NAME = /^[a-z][a-z0-9]{0,19}$/
const TABLE_NAME = /^[a-z][a-z0-9_]{0,14}$/
const MIGRATION_NAME = /^[0-9]{4}-[a-z0-9-]{1,60}$/

const named = (allowed: string, pattern: RegExp): Kind => ({
  allowed,
  accepts: (value) => typeof value === 'string' && pattern.test(value),
})

const readRecords = declareArguments('defineRecords', {
  records: optionsOf({
    family: named('a name of at most 20 a-z and 0-9', FAMILY_NAME),
    tables: listOf(named('a name of at most 15 a-z, 0-9 and _', TABLE_NAME)),
    migrations: anyListOf(
      recordOf({ name: named('a name such as 0001-notes', MIGRATION_NAME), up: FUNCTION }),
    ),
  } satisfies Record<keyof Records, Kind>),
})

/**
 * Declares the tables of a family.
 *
 * @throws TypeError for records of another form, and for two tables or migrations of one name
 * @example
 * const records = defineRecords({
 *   family: 'notes',
 *   tables: ['notes'],
 *   migrations: [{ name: '0001-notes', up: (t, d) => [`CREATE TABLE ${t.notes} (id ${d.id} PRIMARY KEY)`] }],
 * })
 * const { query, tables } = tx.sql(records)
 */
export function defineRecords<const Table extends string>(
  ...args: readonly [records: Records<Table>]
): Records<Table> {
  const [records] = readRecords(args) as typeof args
  const { tables, migrations } = records
  const lists: readonly (readonly string[])[] = [tables, migrations.map(({ name }) => name)]
  for (const names of lists) {
    const twice = names.find((name, at) => names.indexOf(name) !== at)
    if (twice !== undefined) throw new TypeError(`defineRecords: two are named ${twice}`)
  }
  return Object.freeze(records)
}
