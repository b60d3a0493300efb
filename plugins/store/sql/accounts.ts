import type {
  AccountReads,
  AccountRecord,
  AccountWrites,
  SessionRecord,
  UserRecord,
} from '../contract/accounts.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { Query } from './client.ts'
import type { Row } from './rows.ts'
import { assignments, cutPage, integer, integerOrNull } from './rows.ts'
import type { Tables } from './tables.ts'

export function accountReads(query: Query, t: Tables): AccountReads {
  return {
    async get(id) {
      const [row] = await query(`SELECT * FROM ${t.accounts} WHERE id = $1`, [id])
      return row && toAccount(row)
    },
    async list({ limit, after }) {
      const rows = await query(
        `SELECT * FROM ${t.accounts} WHERE CAST($1 AS TEXT) IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
        [after, limit + 1],
      )
      return cutPage(rows.map(toAccount), limit)
    },
    async userByEmail(email) {
      const [row] = await query(`SELECT * FROM ${t.users} WHERE email = $1`, [email])
      return row && toUser(row)
    },
    async session(hash) {
      const [session] = await query(`SELECT * FROM ${t.sessions} WHERE hash = $1`, [hash])
      if (session === undefined) return undefined
      const [user] = await query(`SELECT * FROM ${t.users} WHERE id = $1`, [session['user_id']])
      return user && { session: toSession(session), user: toUser(user) }
    },
    async anyUser() {
      return (await query(`SELECT 1 FROM ${t.users} LIMIT 1`)).length > 0
    },
    async withUsers(limit) {
      const rows = await query(
        `SELECT DISTINCT account_id FROM ${t.users} ORDER BY account_id LIMIT $1`,
        [limit],
      )
      return rows.map((row) => String(row['account_id']))
    },
    async meta(name) {
      const [row] = await query<{ value: string }>(`SELECT value FROM ${t.meta} WHERE name = $1`, [
        name,
      ])
      return row?.value
    },
  }
}

export function accountWrites(query: Query, t: Tables, changes: ChangeSink): AccountWrites {
  return {
    ...accountReads(query, t),
    async insert(account) {
      await query(
        `INSERT INTO ${t.accounts} (id, name, plan, key_limit, suspended_at, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [
          account.id,
          account.name,
          account.plan,
          account.key_limit,
          account.suspended_at,
          account.created_at,
          account.updated_at,
        ],
      )
    },
    async setPlan(id, plan, now) {
      const rows = await query(
        `UPDATE ${t.accounts} SET plan = $2, updated_at = $3 WHERE id = $1 RETURNING id`,
        [id, plan, now],
      )
      return rows.length > 0
    },
    async setKeyLimit(id, limit, now) {
      const rows = await query(
        `UPDATE ${t.accounts} SET key_limit = $2, updated_at = $3 WHERE id = $1 RETURNING id`,
        [id, limit, now],
      )
      return rows.length > 0
    },
    async setSuspended(id, suspended, now) {
      const rows = await query(
        `UPDATE ${t.accounts} SET suspended_at = $2, updated_at = $3
         WHERE id = $1 AND suspended_at IS ${suspended ? '' : 'NOT '}NULL RETURNING id`,
        [id, suspended ? now : null, now],
      )
      if (rows.length > 0) changes.push({ kind: 'account', id })
      return rows.length > 0
    },
    async insertUser(user) {
      const rows = await query(
        `INSERT INTO ${t.users} (id, account_id, email, password, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (email) DO NOTHING RETURNING id`,
        [user.id, user.account_id, user.email, user.password, user.created_at, user.updated_at],
      )
      return rows.length > 0
    },
    async setPassword(userId, password, now) {
      await query(`UPDATE ${t.users} SET password = $2, updated_at = $3 WHERE id = $1`, [
        userId,
        password,
        now,
      ])
    },
    async insertSession(session) {
      await query(
        `INSERT INTO ${t.sessions}
           (hash, user_id, created_at, expires_at, seen_at, authenticated_at)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [
          session.hash,
          session.user_id,
          session.created_at,
          session.expires_at,
          session.seen_at,
          session.authenticated_at,
        ],
      )
    },
    async touchSession(hash, changes) {
      const set = assignments(changes, 2)
      await query(`UPDATE ${t.sessions} SET ${set.sql} WHERE hash = $1`, [hash, ...set.bind])
    },
    async deleteSession(hash) {
      await query(`DELETE FROM ${t.sessions} WHERE hash = $1`, [hash])
    },
    async deleteSessionsOf(userId) {
      await query(`DELETE FROM ${t.sessions} WHERE user_id = $1`, [userId])
    },
    async putSetupLink(hash, expiresAt) {
      await query(`DELETE FROM ${t.setup_links}`)
      await query(`INSERT INTO ${t.setup_links} (hash, expires_at) VALUES ($1, $2)`, [
        hash,
        expiresAt,
      ])
    },
    async takeSetupLink(hash, now) {
      const rows = await query(
        `DELETE FROM ${t.setup_links} WHERE hash = $1 AND expires_at > $2 RETURNING hash`,
        [hash, now],
      )
      return rows.length > 0
    },
    async putMetaOnce(name, value) {
      const [row] = await query<{ value: string }>(
        `INSERT INTO ${t.meta} (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = ${t.meta}.value RETURNING value`,
        [name, value],
      )
      return row?.value ?? value
    },
  }
}

function toAccount(row: Row): AccountRecord {
  return {
    id: String(row['id']),
    name: String(row['name']),
    plan: row['plan'] === 'free' ? 'free' : 'pro',
    key_limit: integerOrNull(row['key_limit']),
    suspended_at: integerOrNull(row['suspended_at']),
    created_at: integer(row['created_at']),
    updated_at: integer(row['updated_at']),
  }
}

function toUser(row: Row): UserRecord {
  return {
    id: String(row['id']),
    account_id: String(row['account_id']),
    email: String(row['email']),
    password: String(row['password']),
    created_at: integer(row['created_at']),
    updated_at: integer(row['updated_at']),
  }
}

function toSession(row: Row): SessionRecord {
  return {
    hash: String(row['hash']),
    user_id: String(row['user_id']),
    created_at: integer(row['created_at']),
    expires_at: integer(row['expires_at']),
    seen_at: integer(row['seen_at']),
    authenticated_at: integer(row['authenticated_at']),
  }
}
