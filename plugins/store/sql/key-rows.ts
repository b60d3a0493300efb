import { printPins, readPins } from '../../../lib/grant/authority.ts'
import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import { printScopes, readScopes } from '../../../lib/scope/canonical.ts'
import type { Row } from './rows.ts'
import { integer, integerOrNull, textOrNull, toCreator } from './rows.ts'

/** The columns of a key, in one order. */
export function columnsOf(key: KeyRecord): {
  readonly columns: string
  readonly types: readonly string[]
  readonly values: readonly unknown[]
} {
  const cells = [
    ['id', 'TEXT', key.id],
    ['account_id', 'TEXT', key.account_id],
    ['parent_id', 'TEXT', key.parent_id],
    ['depth', 'INTEGER', key.depth],
    ['monthly_budget', 'BIGINT', key.monthly_budget_micros],
    ['name', 'TEXT', key.name],
    ['scopes', 'TEXT', printScopes(key.scopes)],
    ['pins', 'TEXT', printPins(key.pins)],
    ['expires_at', 'BIGINT', key.expires_at],
    ['revoked_at', 'BIGINT', key.revoked_at],
    ['created_by_type', 'TEXT', key.created_by.type],
    ['created_by_id', 'TEXT', key.created_by.id],
    ['created_at', 'BIGINT', key.created_at],
    ['updated_at', 'BIGINT', key.updated_at],
    ['last_used_at', 'BIGINT', key.last_used_at],
    ['version', 'INTEGER', key.version],
  ] as const
  return {
    columns: cells.map(([column]) => column).join(', '),
    types: cells.map(([, type]) => type),
    values: cells.map(([, , value]) => value),
  }
}

/** @param rows the open secrets of the key, newest first; they may have been read after the key */
export function toKey(row: Row, rows: readonly Row[]): KeyRecord {
  const secrets = rows.map(toSecret)
  return {
    id: String(row['id']),
    account_id: String(row['account_id']),
    parent_id: textOrNull(row['parent_id']),
    depth: integer(row['depth']),
    monthly_budget_micros: integerOrNull(row['monthly_budget']),
    name: String(row['name']),
    scopes: readScopes(String(row['scopes'])),
    pins: readPins(textOrNull(row['pins'])),
    expires_at: integerOrNull(row['expires_at']),
    revoked_at: integerOrNull(row['revoked_at']),
    created_by: toCreator(row),
    created_at: integer(row['created_at']),
    updated_at: integer(row['updated_at']),
    last_used_at: integerOrNull(row['last_used_at']),
    version: Math.max(integer(row['version']), secrets[0]?.version ?? 0),
    secrets,
  }
}

export function toSecret(row: Row): KeySecret {
  return {
    hash: String(row['hash']),
    display: String(row['display']),
    version: integer(row['version']),
    created_at: integer(row['created_at']),
    not_after: integerOrNull(row['not_after']),
  }
}
