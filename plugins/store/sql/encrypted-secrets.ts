import type {
  EncryptedKind,
  EncryptedSecretReads,
  EncryptedSecretWrites,
} from '../contract/encrypted-secrets.ts'
import { ENCRYPTED_KINDS, ENCRYPTED_NAMES } from '../contract/encrypted-secrets.ts'
import type { Dialect, Query } from './client.ts'
import { integer, integerOrNull } from './rows.ts'
import type { Tables } from './tables.ts'

/** A column of encrypted texts. */
export interface EncryptedColumn {
  /** Full name, with the prefix. */
  readonly table: string
  readonly id: string
  readonly column: string
}

/** Encrypted columns of other tables in the same database, by kind. */
export type EncryptedColumns = Readonly<Record<EncryptedKind, EncryptedColumn>>

interface Location extends EncryptedColumn {
  /** SQL of the encrypted text in the column. */
  encrypted(column: string, dialect: Dialect): string
  /** SQL of the column's value with `from` replaced by `to`. */
  replaced(column: string, from: string, to: string): string
  /** A condition: the row has an encrypted text. */
  readonly holds: string
}

/** A column that contains only the text, in every row. */
const WHOLE: Pick<Location, 'encrypted' | 'replaced' | 'holds'> = {
  encrypted: (column) => column,
  replaced: (_column, _from, to) => to,
  holds: 'TRUE',
}

/** The names are constants without quotes. */
const NAMES = ENCRYPTED_NAMES.map((name) => `'${name}'`).join(', ')

const OWN: Readonly<
  Record<
    (typeof ENCRYPTED_KINDS)[number],
    Omit<Location, 'table'> & { readonly table: keyof Tables }
  >
> = {
  webhook_secret: {
    table: 'webhook_secrets',
    id: 'id',
    column: 'sealed',
    ...WHOLE,
  },
  webhook_headers: {
    table: 'webhooks',
    id: 'id',
    column: 'headers',
    encrypted: (column, { field }) => field(column, 'sealed'),
    // A ciphertext contains no character that JSON escapes.
    replaced: (column, from, to) => `replace(${column}, ${from}, ${to})`,
    holds: 'headers IS NOT NULL',
  },
  named_value: {
    table: 'meta',
    id: 'name',
    column: 'value',
    encrypted: (column) => column,
    replaced: (_column, _from, to) => to,
    holds: `name IN (${NAMES})`,
  },
}

/** Every kind with its location, those of the core first. */
function locationsOf(t: Tables, beside: EncryptedColumns): ReadonlyMap<EncryptedKind, Location> {
  const own = ENCRYPTED_KINDS.map(
    (kind) => [kind, { ...OWN[kind], table: t[OWN[kind].table] }] as const,
  )
  const others = Object.entries(beside).map(
    ([kind, column]) => [kind, { ...WHOLE, ...column }] as const,
  )
  return new Map<EncryptedKind, Location>([...own, ...others])
}

function locationOf(
  locations: ReadonlyMap<EncryptedKind, Location>,
  kind: EncryptedKind,
): Location {
  const location = locations.get(kind)
  if (location === undefined) throw new TypeError(`no kind of encrypted values: ${kind}`)
  return location
}

export function encryptedSecretReads(
  query: Query,
  t: Tables,
  dialect: Dialect,
  beside: EncryptedColumns,
): EncryptedSecretReads {
  const locations = locationsOf(t, beside)
  const kinds = [...locations.keys()]
  const countOf = (kind: EncryptedKind): string => {
    const { table, holds, column, encrypted } = locationOf(locations, kind)
    return `SELECT '${kind}' AS kind, ${dialect.encryptedUnder(encrypted(column, dialect))} AS key_id,
        NULL AS until FROM ${table} WHERE ${holds}`
  }
  const answers = `SELECT 'kept_answer' AS kind, ${dialect.encryptedUnder('fingerprint')} AS key_id,
      expires_at AS until FROM ${t.idempotency} WHERE expires_at > $1`
  const everything = [answers, ...kinds.map(countOf)].join(' UNION ALL ')
  return {
    kinds,
    async count(now) {
      const rows = await query(
        `SELECT kind, key_id, count(*) AS count, max(until) AS until FROM (${everything}) encrypted
         GROUP BY kind, key_id ORDER BY key_id, kind`,
        [now],
      )
      return rows.map((row) => ({
        kind: String(row['kind']),
        key_id: String(row['key_id']),
        count: integer(row['count']),
        until: integerOrNull(row['until']),
      }))
    },
    async encryptedElsewhere(kind, keyId, { after, limit }) {
      const { table, id, holds, column, encrypted } = locationOf(locations, kind)
      const text = encrypted(column, dialect)
      const rows = await query(
        `SELECT ${id} AS id, ${text} AS encrypted FROM ${table}
         WHERE ${holds} AND ${id} > $1 AND ${dialect.encryptedUnder(text)} <> $2
         ORDER BY ${id} LIMIT $3`,
        [after, keyId, limit],
      )
      return rows.map((row) => ({ id: String(row['id']), encrypted: String(row['encrypted']) }))
    },
  }
}

export function encryptedSecretWrites(
  query: Query,
  t: Tables,
  dialect: Dialect,
  beside: EncryptedColumns,
): EncryptedSecretWrites {
  const locations = locationsOf(t, beside)
  return {
    ...encryptedSecretReads(query, t, dialect, beside),
    async reencrypt(kind, texts) {
      if (texts.length === 0) return 0
      const { table, id, column, replaced, encrypted } = locationOf(locations, kind)
      // Locked rows are skipped: two processes that waited for each other's rows would deadlock.
      const own = `${table}.${column}`
      const free = `SELECT ${id} FROM ${table} WHERE ${dialect.among(id, '$2')}
        ORDER BY ${id} ${dialect.skipLocked}`
      const rows = await query(
        `UPDATE ${table} SET ${column} = ${replaced(own, '(n.value ->> 1)', '(n.value ->> 2)')}
         FROM ${dialect.each('$1', 'n')}
         WHERE ${table}.${id} = (n.value ->> 0) AND ${table}.${id} IN (${free})
           AND ${encrypted(own, dialect)} = (n.value ->> 1)
         RETURNING 1`,
        [
          JSON.stringify(texts.map(({ id, from, to }) => [id, from, to])),
          JSON.stringify(texts.map(({ id }) => id)),
        ],
      )
      return rows.length
    },
  }
}
