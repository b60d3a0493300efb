import type { Dialect, Feed } from '../client.ts'
import { integer } from '../rows.ts'
import { claimDue } from './claim.ts'
import { publishGroup } from './publish.ts'
import { settleGroup } from './settle.ts'

/** There is one writer, so the order of positions is the order of commits. */
const FEED: Feed = {
  columns: '',
  key: ['position'],
  settled: () => 'TRUE',
  beyond: (way, parameter) => `position ${way === 'asc' ? '>' : '<'} CAST(${parameter} AS INTEGER)`,
  upTo: (way, parameter) => `position ${way === 'asc' ? '<=' : '>='} CAST(${parameter} AS INTEGER)`,
  print: (row) => String(integer(row['position'])),
  last: (t) =>
    `CAST(COALESCE((SELECT seq FROM sqlite_sequence WHERE name = '${t.events}'), 0) AS TEXT)`,
  format: /^\d{1,15}$/,
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  tableNames: `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  bytes: 'BLOB',
  id: 'TEXT',
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  clustered: 'WITHOUT ROWID',
  among: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
  within: (column, parameter) =>
    `(${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM json_each(${column}) own
       WHERE own.value NOT IN (SELECT value FROM json_each(${parameter}))))`,
  each: (parameter, alias) => `json_each(${parameter}) ${alias}`,
  gather: (columns) => `json_group_array(json_array(${columns.join(', ')}))`,
  field: (column, name) => `json_extract(${column}, '$.${name}')`,
  encryptedUnder: (text) => `substr(${text}, 4, max(0, instr(substr(${text}, 4), '.') - 1))`,
  // One process: any other claim was made before it was started.
  abandoned: (_, id) => `substr(claim, 1, length(${id}) + 1) <> ${id} || '.'`,
  skipLocked: '',
  // No other process commits.
  onConflict: (query, sql, bind) => query(sql, bind),
  feed: FEED,
  groups: { publish: publishGroup, claim: claimDue, settle: settleGroup },
}
