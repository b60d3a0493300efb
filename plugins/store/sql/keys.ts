import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import { MAX_LIVE_SECRETS } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import { printScopes } from '../../../lib/scope/canonical.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { Instant } from '../../../lib/time.ts'
import type { KeyListQuery, KeyReads, KeyWrites } from '../contract/keys.ts'
import type { Page } from '../contract/page.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import type { Dialect, Query } from './client.ts'
import { LIVE_LINE, endColumns, liveTree, spreadEnds } from './key-ends.ts'
import { KEY, KEY_SECRET, KEY_TYPES, toKey } from './key-rows.ts'
import { askedList } from './conditions.ts'
import { cutPage, readFilteredPage } from './pages.ts'
import type { Row } from './rows.ts'
import { BEHIND_ALL, assignments, insertion, integer, integerOrNull } from './rows.ts'
import type { Tables } from './tables.ts'

/** Live at `$1`, not counting ancestors; as in memory, a key is expired at its expiry. */
const LIVE = '(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1))'

/**
 * The current secret of a key, and those that may still be live. A rotation sets `not_after` of ended ones to
 * 0, so that few are left however often a key is rotated. Served by a partial index.
 */
const OPEN = '(not_after IS NULL OR not_after > 0)'

export function keyReads(query: Query, t: Tables, dialect: Dialect): KeyReads {
  async function withSecrets(rows: readonly Row[]): Promise<KeyRecord[]> {
    if (rows.length === 0) return []
    const secrets = await query(
      `SELECT * FROM ${t.key_secrets} WHERE ${dialect.among('key_id', '$1')} AND ${OPEN}
       ORDER BY version DESC`,
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

  /** An account has few live keys, however many it revoked: finds them first and then sorts. */
  async function listLive(
    { account_id, within, limit, after }: KeyListQuery,
    liveAt: Instant,
  ): Promise<Page<KeyRecord>> {
    const found = await query(
      `WITH live AS MATERIALIZED (
         SELECT id, pins FROM ${t.keys} WHERE account_id = $2 AND ${LIVE_LINE}
       )
       SELECT id FROM live WHERE id < $3
         AND (CAST($5 AS TEXT) IS NULL OR ${dialect.within('pins', '$5')})
       ORDER BY id DESC LIMIT $4`,
      [liveAt, account_id, after ?? BEHIND_ALL, limit + 1, within && JSON.stringify(within)],
    )
    return pageOf(found, limit)
  }

  /** Looks at a bounded number of keys, however few of them match the pins. */
  function listAll(
    { account_id, within, limit, after }: KeyListQuery,
    most: number,
  ): Promise<Page<KeyRecord>> {
    const indexed = [
      { sql: 'account_id = $1 AND id < $2', bind: [account_id, after ?? BEHIND_ALL] },
    ]
    const filters = [askedList(within, dialect.within('pins', '$1'))]
    const list = { table: t.keys, key: ['id'], order: 'desc', indexed, filters, most } as const
    return readFilteredPage(query, list, async ({ sql, bind }) => {
      const found = await query(
        `SELECT id FROM ${t.keys} WHERE ${sql} ORDER BY id DESC LIMIT $${bind.length + 1}`,
        [...bind, limit + 1],
      )
      return pageOf(found, limit)
    })
  }

  /** A page from rows that were read with one more than the limit. */
  async function pageOf(found: readonly Row[], limit: number): Promise<Page<KeyRecord>> {
    const { rows, more } = cutPage(found, limit)
    const keys = await query(
      `SELECT * FROM ${t.keys} WHERE ${dialect.among('id', '$1')} ORDER BY id DESC`,
      [JSON.stringify(rows.map((row) => row['id']))],
    )
    return { rows: await withSecrets(keys), more }
  }

  return {
    async findChain(hash) {
      const [found] = await query(
        `SELECT s.*, k.account_id, a.suspended_at
         FROM ${t.key_secrets} s JOIN ${t.keys} k ON k.id = s.key_id
           LEFT JOIN ${t.accounts} a ON a.id = k.account_id
         WHERE s.hash = $1`,
        [hash],
      )
      if (found === undefined) return undefined
      const chain = await chainOf(found['key_id'])
      const key = chain.at(-1)
      if (key === undefined) return undefined
      const own = KEY_SECRET.read(found)
      // A secret that is not open has ended, also when it ended between the two reads.
      const open = key.secrets.find(({ version }) => version === own.version)
      const secret = open ?? { ...own, not_after: 0 }
      const suspended = integerOrNull(found['suspended_at']) !== null
      return { secret, chain, account: { id: String(found['account_id']), suspended } }
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
    list: (asked, most = MOST_LOOKED_AT) =>
      asked.live_at === null ? listAll(asked, most) : listLive(asked, asked.live_at),
    async descendants(id, limit, now) {
      const rows = await query(
        `WITH RECURSIVE ${liveTree(t)}
         SELECT id, count(*) OVER () AS total FROM tree ORDER BY id LIMIT $3`,
        [id, now, limit],
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
  async function noted(id: string, isChanged: boolean): Promise<boolean> {
    if (!isChanged) return false
    const [key] = await query(`SELECT account_id FROM ${t.keys} WHERE id = $1`, [id])
    changes.push({ kind: 'key', id, account_id: String(key?.['account_id']) })
    return true
  }

  async function insertSecret(keyId: string, secret: KeySecret): Promise<void> {
    const { sql, bind } = insertion({ key_id: keyId, ...KEY_SECRET.write(secret) })
    await query(`INSERT INTO ${t.key_secrets} ${sql}`, bind)
  }

  /**
   * A key that had ended was revoked: it counts as old from now, and so do those above it that had ended.
   * No line then ends later than the one above it, so that the purge finds keys before those they keep.
   */
  async function endLater(id: string, now: Instant): Promise<void> {
    const line = await query(
      `WITH RECURSIVE line AS (
         SELECT id, parent_id FROM ${t.keys} WHERE id = $1
         UNION ALL
         SELECT k.id, k.parent_id FROM ${t.keys} k JOIN line ON k.id = line.parent_id
       ) SELECT id FROM line`,
      [id],
    )
    await query(
      `UPDATE ${t.keys} SET ends_at = $2 WHERE ${dialect.among('id', '$1')} AND ends_at < $2`,
      [JSON.stringify(line.map((row) => row['id'])), now],
    )
  }

  return {
    ...keyReads(query, t, dialect),
    async insert(key, limit) {
      const row = KEY.write(key)
      const values = Object.values(row)
      // A SELECT list gives its parameters no type.
      const casts = KEY_TYPES.map((type, at) => `CAST($${at + 4} AS ${type})`)
      const ends = endColumns(t, key, values.length + 4)
      const rows = await query(
        `INSERT INTO ${t.keys} (${Object.keys(row).join(', ')}, ${ends.columns})
         SELECT ${casts.join(', ')}, ${ends.values}
         WHERE CAST($3 AS BIGINT) IS NULL
           OR COALESCE((SELECT key_limit FROM ${t.accounts} WHERE id = $2), CAST($3 AS BIGINT)) >
             (SELECT count(*) FROM ${t.keys} WHERE account_id = $2 AND ${LIVE_LINE})
         RETURNING id`,
        [limit?.now ?? 0, key.account_id, limit?.byDefault ?? null, ...values, ...ends.bind],
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
      if (rows.length > 0 && others.expires_at !== undefined) {
        await query(spreadEnds(t), [judged.id, now])
      }
      return noted(judged.id, rows.length > 0)
    },
    async rotate({ id, secret, previous_not_after, now }) {
      const isCurrent = `id = $2 AND ${LIVE} AND version = $3 - 1`
      const replaced = previous_not_after > now ? 1 : 0
      const rows = await query(
        `UPDATE ${t.keys} SET version = $3, updated_at = $1
         WHERE ${isCurrent} AND $4 > (SELECT count(*) FROM ${t.key_secrets} s
           WHERE s.key_id = $2 AND s.not_after > $1 AND s.not_after > 0) RETURNING id`,
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
         WHERE key_id = $1 AND ${OPEN} AND (version = $2 - 1 OR not_after <= $4)`,
        [id, secret.version, previous_not_after, now],
      )
      await insertSecret(id, secret)
      await noted(id, true)
      return 'rotated'
    },
    async endPrevious(id, now) {
      const rows = await query(
        `UPDATE ${t.key_secrets} SET not_after = 0
         WHERE key_id = $1 AND not_after > $2 AND not_after > 0 RETURNING hash`,
        [id, now],
      )
      return noted(id, rows.length > 0)
    },
    async revoke(id, now) {
      const [revoked] = await query(
        `UPDATE ${t.keys} SET revoked_at = $2, updated_at = $2
         WHERE id = $1 AND revoked_at IS NULL RETURNING ends_at`,
        [id, now],
      )
      if (revoked === undefined) return false
      await query(spreadEnds(t), [id, now])
      if (integer(revoked['ends_at']) < now) await endLater(id, now)
      return noted(id, true)
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
