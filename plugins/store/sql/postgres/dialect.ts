import type { Dialect } from '../client.ts'
import { createClaimDue } from './claim.ts'
import { FEED } from './feed.ts'
import { isAbandoned } from './processes.ts'
import { publishGroup } from './publish.ts'
import { settleGroup } from './settle.ts'
import { onConflict } from './statement.ts'

/** The dialect of one process: it remembers where its claims have ended. */
export const createDialect = (): Dialect => ({
  name: 'postgres',
  tableNames: `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)
    AND relnamespace <> 'pg_catalog'::regnamespace`,
  bytes: 'BYTEA',
  id: 'TEXT COLLATE "C"',
  serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  clustered: '',
  among: (column, parameter) =>
    `${column} = ANY (ARRAY(SELECT jsonb_array_elements_text(${parameter}::jsonb)))`,
  within: (column, parameter) =>
    `(${column} IS NOT NULL AND ${column}::jsonb <@ ${parameter}::jsonb)`,
  each: (parameter, alias) => `jsonb_array_elements(${parameter}::jsonb) AS ${alias} (value)`,
  gather: (columns) =>
    `COALESCE(CAST(json_agg(json_build_array(${columns.join(', ')})) AS TEXT), '[]')`,
  field: (column, name) => `(${column}::jsonb ->> '${name}')`,
  encryptedUnder: (text) => `split_part(${text}, '.', 2)`,
  abandoned: isAbandoned,
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  onConflict,
  feed: FEED,
  groups: { publish: publishGroup, claim: createClaimDue(), settle: settleGroup },
})
