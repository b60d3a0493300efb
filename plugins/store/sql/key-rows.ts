import type { Pins } from '../../../lib/grant/authority.ts'
import { printPins, readPins } from '../../../lib/grant/authority.ts'
import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import type { ScopeSet } from '../../../lib/scope/canonical.ts'
import { printScopes, readScopes } from '../../../lib/scope/canonical.ts'
import type { Column, Group } from './columns.ts'
import { big, creator, group, id, int, named, orNull, text } from './columns.ts'
import type { Row } from './rows.ts'
import { textOrNull } from './rows.ts'

const SCOPES: Column<ScopeSet> = {
  type: 'text',
  nullable: false,
  read: (value) => readScopes(String(value)),
  write: printScopes,
}

/** NULL for all apps. */
const PINS: Column<Pins> = {
  type: 'text',
  nullable: true,
  read: (value) => readPins(textOrNull(value)),
  write: printPins,
}

export const KEY: Group<Omit<KeyRecord, 'secrets'>> = group({
  id: id(),
  account_id: id(),
  parent_id: orNull(id()),
  depth: int(),
  monthly_budget_micros: named('monthly_budget', orNull(big())),
  name: text(),
  scopes: SCOPES,
  pins: PINS,
  expires_at: orNull(big()),
  revoked_at: orNull(big()),
  created_by: creator(),
  created_at: big(),
  updated_at: big(),
  last_used_at: orNull(big()),
  version: int(),
})

export const KEY_SECRET: Group<KeySecret> = group({
  hash: id(),
  display: text(),
  version: int(),
  created_at: big(),
  not_after: orNull(big()),
})

const TYPES: Readonly<Record<string, string>> = { integer: 'INTEGER', bigint: 'BIGINT' }

/** SQL type of each column of a key, in the order in which it is written. */
export const KEY_TYPES: readonly string[] = Object.values(KEY.columns).map(
  ({ type }) => TYPES[type] ?? 'TEXT',
)

/** @param rows the open secrets of the key, newest first; they may have been read after the key */
export function toKey(row: Row, rows: readonly Row[]): KeyRecord {
  const secrets = rows.map(KEY_SECRET.read)
  const key = KEY.read(row)
  return { ...key, version: Math.max(key.version, secrets[0]?.version ?? 0), secrets }
}
