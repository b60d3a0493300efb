import type { SealCount, SealKind, SealReads, SealWrites } from '../contract/seals.ts'
import { SEAL_KINDS, SEALED_NAMES } from '../contract/seals.ts'
import type { Dialect, Query } from './client.ts'
import { integer, integerOrNull } from './rows.ts'
import type { Tables } from './tables.ts'

interface Place {
  readonly table: keyof Tables
  readonly id: string
  readonly column: string
  /** The sealed text in a column's value. */
  sealed(column: string, dialect: Dialect): string
  /** The column's value with `to` in the place of `from`. */
  replaced(column: string, from: string, to: string): string
  /** Which rows hold one. */
  readonly holds: string
}

/** Names are ours and hold no quote. */
const NAMES = SEALED_NAMES.map((name) => `'${name}'`).join(', ')

const PLACES: Readonly<Record<SealKind, Place>> = {
  webhook_secret: {
    table: 'webhook_secrets',
    id: 'id',
    column: 'sealed',
    sealed: (column) => column,
    replaced: (_column, _from, to) => to,
    holds: 'TRUE',
  },
  webhook_headers: {
    table: 'webhooks',
    id: 'id',
    column: 'headers',
    sealed: (column, { field }) => field(column, 'sealed'),
    // A sealed text has no character that JSON escapes.
    replaced: (column, from, to) => `replace(${column}, ${from}, ${to})`,
    holds: 'headers IS NOT NULL',
  },
  service_secret: {
    table: 'service_secrets',
    id: 'id',
    column: 'sealed',
    sealed: (column) => column,
    replaced: (_column, _from, to) => to,
    holds: 'TRUE',
  },
  named_value: {
    table: 'meta',
    id: 'name',
    column: 'value',
    sealed: (column) => column,
    replaced: (_column, _from, to) => to,
    holds: `name IN (${NAMES})`,
  },
}

export function sealReads(query: Query, t: Tables, dialect: Dialect): SealReads {
  const countOf = (kind: SealKind): string => {
    const { table, holds, column, sealed } = PLACES[kind]
    return `SELECT '${kind}' AS kind, ${dialect.sealedUnder(sealed(column, dialect))} AS key_id,
        NULL AS until FROM ${t[table]} WHERE ${holds}`
  }
  const answers = `SELECT 'kept_answer' AS kind, ${dialect.sealedUnder('fingerprint')} AS key_id,
      expires_at AS until FROM ${t.idempotency} WHERE expires_at > $1`
  const everything = [answers, ...SEAL_KINDS.map(countOf)].join(' UNION ALL ')
  return {
    async count(now) {
      const rows = await query(
        `SELECT kind, key_id, count(*) AS count, max(until) AS until FROM (${everything}) sealed
         GROUP BY kind, key_id ORDER BY key_id, kind`,
        [now],
      )
      return rows.map((row) => ({
        kind: row['kind'] as SealCount['kind'],
        key_id: String(row['key_id']),
        count: integer(row['count']),
        until: integerOrNull(row['until']),
      }))
    },
    async sealedElsewhere(kind, keyId, { after, limit }) {
      const { table, id, holds, column, sealed } = PLACES[kind]
      const text = sealed(column, dialect)
      const rows = await query(
        `SELECT ${id} AS id, ${text} AS sealed FROM ${t[table]}
         WHERE ${holds} AND ${id} > $1 AND ${dialect.sealedUnder(text)} <> $2
         ORDER BY ${id} LIMIT $3`,
        [after, keyId, limit],
      )
      return rows.map((row) => ({ id: String(row['id']), sealed: String(row['sealed']) }))
    },
  }
}

export function sealWrites(query: Query, t: Tables, dialect: Dialect): SealWrites {
  return {
    ...sealReads(query, t, dialect),
    async reseal(kind, texts) {
      if (texts.length === 0) return 0
      const { table, id, column, replaced, sealed } = PLACES[kind]
      // What somebody holds is passed over: two that waited for each other's rows would fail.
      const own = `${t[table]}.${column}`
      const free = `SELECT ${id} FROM ${t[table]} WHERE ${dialect.among(id, '$2')}
        ORDER BY ${id} ${dialect.passOver}`
      const rows = await query(
        `UPDATE ${t[table]} SET ${column} = ${replaced(own, '(n.value ->> 1)', '(n.value ->> 2)')}
         FROM ${dialect.each('$1', 'n')}
         WHERE ${t[table]}.${id} = (n.value ->> 0) AND ${t[table]}.${id} IN (${free})
           AND ${sealed(own, dialect)} = (n.value ->> 1)
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
