import { readPins, printPins } from '../../../lib/grant/authority.ts'
import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import { MAX_LIVE_SECRETS } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import { printScopes, readScopes } from '../../../lib/scope/canonical.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { KeyReads, KeyWrites } from '../contract/keys.ts'
import type { Dialect, Query } from './client.ts'
import type { Row } from './rows.ts'
import { assignments, cutPage, integer, integerOrNull, textOrNull, toCreator } from './rows.ts'
import type { Tables } from './tables.ts'

/** Live at `$1`; the same comparison as in memory: now = expiry is expired. */
const LIVE = '(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1))'

/** The keys of account `$2` that are not live at `$1`, as the recursive table `dead`. */
function deadKeys(t: Tables): string {
  return `dead AS (
    SELECT id FROM ${t.keys} WHERE account_id = $2
      AND CAST($1 AS BIGINT) IS NOT NULL AND NOT ${LIVE}
    UNION
    SELECT k.id FROM ${t.keys} k JOIN dead ON k.parent_id = dead.id
  )`
}

/** The ids of a key and of every key below it, as the recursive table `tree`. */
export function treeBelow(t: Tables, parameter: string): string {
  return `tree AS (
    SELECT id FROM ${t.keys} WHERE id = ${parameter}
    UNION ALL
    SELECT k.id FROM ${t.keys} k JOIN tree ON k.parent_id = tree.id
  )`
}

export function keyReads(query: Query, t: Tables, dialect: Dialect): KeyReads {
  async function withSecrets(rows: readonly Row[]): Promise<KeyRecord[]> {
    if (rows.length === 0) return []
    const secrets = await query(
      `SELECT * FROM ${t.key_secrets} WHERE ${dialect.among('key_id', '$1')} ORDER BY version DESC`,
      [JSON.stringify(rows.map((row) => row['id']))],
    )
    return rows.map((row) =>
      toKey(
        row,
        secrets.filter((secret) => secret['key_id'] === row['id']),
      ),
    )
  }

  async function chainOf(id: unknown): Promise<KeyRecord[]> {
    const rows = await query(
      `WITH RECURSIVE line AS (
         SELECT * FROM ${t.keys} WHERE id = $1
         UNION ALL
         SELECT k.* FROM ${t.keys} k JOIN line ON k.id = line.parent_id
       ) SELECT * FROM line ORDER BY depth`,
      [id],
    )
    return withSecrets(rows)
  }

  return {
    async findChain(hash) {
      const [found] = await query(
        `SELECT s.key_id, s.version, k.account_id, a.suspended_at
         FROM ${t.key_secrets} s JOIN ${t.keys} k ON k.id = s.key_id
           LEFT JOIN ${t.accounts} a ON a.id = k.account_id
         WHERE s.hash = $1`,
        [hash],
      )
      if (found === undefined) return undefined
      const chain = await chainOf(found['key_id'])
      const secret = chain.at(-1)?.secrets.find((one) => one.version === integer(found['version']))
      const suspended = integerOrNull(found['suspended_at']) !== null
      return secret && { secret, chain, account: { id: String(found['account_id']), suspended } }
    },
    async chain(accountId, id) {
      const chain = await chainOf(id)
      return chain[0]?.account_id === accountId ? chain : []
    },
    async get(accountId, id) {
      const rows = await query(`SELECT * FROM ${t.keys} WHERE account_id = $1 AND id = $2`, [
        accountId,
        id,
      ])
      const [key] = await withSecrets(rows)
      return key
    },
    async list({ account_id, live_at, within, limit, after }) {
      const rows = await query(
        `WITH RECURSIVE ${deadKeys(t)}
         SELECT * FROM ${t.keys}
         WHERE account_id = $2 AND (CAST($3 AS TEXT) IS NULL OR id < $3)
           AND id NOT IN (SELECT id FROM dead)
           AND (CAST($5 AS TEXT) IS NULL OR ${dialect.within('pins', '$5')})
         ORDER BY id DESC LIMIT $4`,
        [live_at, account_id, after, limit + 1, within && JSON.stringify(within)],
      )
      return cutPage(await withSecrets(rows), limit)
    },
    async descendants(id, limit) {
      const rows = await query(
        `WITH RECURSIVE ${treeBelow(t, '$1')}
         SELECT id, count(*) OVER () AS total FROM tree ORDER BY id LIMIT $2`,
        [id, limit],
      )
      return { ids: rows.map((row) => String(row['id'])), total: integer(rows[0]?.['total'] ?? 0) }
    },
  }
}

export function keyWrites(
  query: Query,
  t: Tables,
  dialect: Dialect,
  changes: ChangeSink,
): KeyWrites {
  const noted = (id: string, isChanged: boolean): boolean => {
    if (isChanged) changes.push({ kind: 'key', id })
    return isChanged
  }

  async function insertSecret(keyId: string, secret: KeySecret): Promise<void> {
    await query(
      `INSERT INTO ${t.key_secrets} (hash, key_id, version, display, created_at, not_after)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [secret.hash, keyId, secret.version, secret.display, secret.created_at, secret.not_after],
    )
  }

  return {
    ...keyReads(query, t, dialect),
    async insert(key) {
      const { columns, values } = columnsOf(key)
      const places = values.map((_, at) => `$${at + 1}`)
      await query(`INSERT INTO ${t.keys} (${columns}) VALUES (${places.join(', ')})`, values)
      for (const secret of key.secrets) await insertSecret(key.id, secret)
    },
    async insertWithin(key, { byDefault, now }) {
      const { columns, types, values } = columnsOf(key)
      // A SELECT list gives its parameters no type.
      const places = types.map((type, at) => `CAST($${at + 4} AS ${type})`)
      const rows = await query(
        `WITH RECURSIVE ${deadKeys(t)}
         INSERT INTO ${t.keys} (${columns}) SELECT ${places.join(', ')}
         WHERE COALESCE((SELECT key_limit FROM ${t.accounts} WHERE id = $2), CAST($3 AS BIGINT)) >
           (SELECT count(*) FROM ${t.keys}
            WHERE account_id = $2 AND id NOT IN (SELECT id FROM dead))
         RETURNING id`,
        [now, key.account_id, byDefault, ...values],
      )
      if (rows.length === 0) return false
      for (const secret of key.secrets) await insertSecret(key.id, secret)
      return true
    },
    async update(judged, { scopes, ...others }, now) {
      const columns = scopes === undefined ? others : { ...others, scopes: printScopes(scopes) }
      const set = assignments({ ...columns, updated_at: now }, 5)
      const rows = await query(
        `UPDATE ${t.keys} SET ${set.sql}
         WHERE id = $2 AND ${LIVE} AND scopes = $3 AND COALESCE(expires_at, -1) = $4 RETURNING id`,
        [now, judged.id, printScopes(judged.scopes), judged.expires_at ?? -1, ...set.bind],
      )
      return noted(judged.id, rows.length > 0)
    },
    async rotate({ id, secret, previous_not_after, now }) {
      const isCurrent = `id = $2 AND ${LIVE} AND version = $3 - 1`
      const replaced = previous_not_after > now ? 1 : 0
      const rows = await query(
        `UPDATE ${t.keys} SET version = $3, updated_at = $1
         WHERE ${isCurrent} AND $4 > (SELECT count(*) FROM ${t.key_secrets} s
           WHERE s.key_id = $2 AND s.not_after > $1) RETURNING id`,
        [now, id, secret.version, MAX_LIVE_SECRETS - replaced],
      )
      if (rows.length === 0) {
        const left = await query(`SELECT id FROM ${t.keys} WHERE ${isCurrent}`, [
          now,
          id,
          secret.version,
        ])
        return left.length === 0 ? 'conflict' : 'limit_reached'
      }
      await query(
        `UPDATE ${t.key_secrets}
         SET not_after = CASE WHEN version = $2 - 1 THEN CAST($3 AS BIGINT) ELSE 0 END
         WHERE key_id = $1 AND (version = $2 - 1 OR not_after <= $4)`,
        [id, secret.version, previous_not_after, now],
      )
      await insertSecret(id, secret)
      noted(id, true)
      return 'rotated'
    },
    async endPrevious(id, now) {
      const rows = await query(
        `UPDATE ${t.key_secrets} SET not_after = 0
         WHERE key_id = $1 AND not_after > $2 RETURNING hash`,
        [id, now],
      )
      return noted(id, rows.length > 0)
    },
    async revoke(id, now) {
      const rows = await query(
        `UPDATE ${t.keys} SET revoked_at = $2, updated_at = $2
         WHERE id = $1 AND revoked_at IS NULL RETURNING id`,
        [id, now],
      )
      return noted(id, rows.length > 0)
    },
    async touch(uses) {
      await query(
        `UPDATE ${t.keys} SET last_used_at = CAST(used.value ->> 1 AS BIGINT)
         FROM ${dialect.each('$1', 'used')}
         WHERE ${t.keys}.id = used.value ->> 0
           AND (last_used_at IS NULL OR last_used_at < CAST(used.value ->> 1 AS BIGINT))`,
        [JSON.stringify(uses.map(({ id, at }) => [id, at]))],
      )
    },
  }
}

/** What a key's row holds, in one order. */
function columnsOf(key: KeyRecord): {
  readonly columns: string
  readonly types: readonly string[]
  readonly values: readonly unknown[]
} {
  const cells = [
    ['id', 'TEXT', key.id],
    ['account_id', 'TEXT', key.account_id],
    ['parent_id', 'TEXT', key.parent_id],
    ['depth', 'INTEGER', key.depth],
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

function toKey(row: Row, secrets: readonly Row[]): KeyRecord {
  return {
    id: String(row['id']),
    account_id: String(row['account_id']),
    parent_id: textOrNull(row['parent_id']),
    depth: integer(row['depth']),
    name: String(row['name']),
    scopes: readScopes(String(row['scopes'])),
    pins: readPins(textOrNull(row['pins'])),
    expires_at: integerOrNull(row['expires_at']),
    revoked_at: integerOrNull(row['revoked_at']),
    created_by: toCreator(row),
    created_at: integer(row['created_at']),
    updated_at: integer(row['updated_at']),
    last_used_at: integerOrNull(row['last_used_at']),
    version: integer(row['version']),
    secrets: secrets.map(toSecret),
  }
}

function toSecret(row: Row): KeySecret {
  return {
    hash: String(row['hash']),
    display: String(row['display']),
    version: integer(row['version']),
    created_at: integer(row['created_at']),
    not_after: integerOrNull(row['not_after']),
  }
}
