import type { Dialect, Query } from '../../store/sql/client.ts'
import type { Extension } from '../../store/sql/extension.ts'
import { extensionPrefix } from '../../store/sql/extension.ts'
import type { RecordAccess, RecordDialect, Records } from '../contract/records.ts'

const prefixOf = (tablePrefix: string, { family }: Records): string =>
  `${extensionPrefix(tablePrefix)}${family}_`

/** The tables of a family, under its own prefix. */
export function recordTables<Table extends string>(
  tablePrefix: string,
  records: Records<Table>,
): Readonly<Record<Table, string>> {
  const prefix = prefixOf(tablePrefix, records)
  const named = records.tables.map((table) => [table, prefix + table])
  return Object.fromEntries(named) as Readonly<Record<Table, string>>
}

/** What the core migrates together with its own schema. */
export function extensionOf(tablePrefix: string, records: Records): Extension {
  const tables = recordTables(tablePrefix, records)
  return {
    name: records.family,
    prefix: prefixOf(tablePrefix, records),
    steps: records.migrations.map(({ name, up }) => ({
      name,
      alone: false,
      up: (dialect) => up(tables, plainOf(dialect)),
    })),
  }
}

/** Statements on the tables of families, wherever `query` runs them. */
export function recordAccess(query: Query, dialect: Dialect, tablePrefix: string): RecordAccess {
  const guarded: Query = (sql, bind) => {
    requireInside(sql)
    return query(sql, bind)
  }
  return {
    sql: (records) => ({
      query: guarded,
      tables: recordTables(tablePrefix, records),
      dialect: plainOf(dialect),
    }),
  }
}

const plainOf = ({ name, id, bytes }: Dialect): RecordDialect => ({ name, id, bytes })

const OF_TRANSACTIONS = /^\s*(begin|commit|rollback|end|savepoint|release|start|prepare|abort)\b/i

/** Nobody but the unit ends it: what comes after would not commit with it. */
function requireInside(sql: string): void {
  if (!OF_TRANSACTIONS.test(sql)) return
  throw new TypeError('a statement of a family must not begin or end a transaction')
}
