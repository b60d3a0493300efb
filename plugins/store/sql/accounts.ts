import type {
  AccountReads,
  AccountRecord,
  AccountWrites,
  MemberRecord,
  SessionRecord,
  UserRecord,
} from '../contract/accounts.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { Query } from './client.ts'
import type { Group } from './columns.ts'
import { big, group, id, orNull, text } from './columns.ts'
import { cutPage } from './pages.ts'
import { BEHIND_ALL, assignments, insertion } from './rows.ts'
import type { Tables } from './tables.ts'

const ACCOUNT: Group<AccountRecord> = group({
  id: id(),
  name: text(),
  plan: text<AccountRecord['plan']>(),
  key_limit: orNull(big()),
  suspended_at: orNull(big()),
  created_at: big(),
  updated_at: big(),
})

const USER: Group<UserRecord> = group({
  id: id(),
  account_id: id(),
  email: text(),
  password: text(),
  created_at: big(),
  updated_at: big(),
})

/** Columns of a member, which no password is among. */
const MEMBER: Group<MemberRecord> = group({
  id: id(),
  account_id: id(),
  email: text(),
  created_at: big(),
  updated_at: big(),
  signed_in_at: orNull(big()),
})
const MEMBER_COLUMNS = 'id, account_id, email, created_at, updated_at, signed_in_at'

const SESSION: Group<SessionRecord> = group({
  hash: id(),
  user_id: id(),
  created_at: big(),
  expires_at: big(),
  seen_at: big(),
  authenticated_at: big(),
})

export function accountReads(query: Query, t: Tables): AccountReads {
  return {
    async get(id) {
      const [row] = await query(`SELECT * FROM ${t.accounts} WHERE id = $1`, [id])
      return row && ACCOUNT.read(row)
    },
    async list({ limit, after }) {
      const rows = await query(
        `SELECT * FROM ${t.accounts} WHERE CAST($1 AS TEXT) IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
        [after, limit + 1],
      )
      return cutPage(rows.map(ACCOUNT.read), limit)
    },
    async userByEmail(email) {
      const [row] = await query(`SELECT * FROM ${t.users} WHERE email = $1`, [email])
      return row && USER.read(row)
    },
    async session(hash) {
      const [session] = await query(`SELECT * FROM ${t.sessions} WHERE hash = $1`, [hash])
      if (session === undefined) return undefined
      const [user] = await query(`SELECT * FROM ${t.users} WHERE id = $1`, [session['user_id']])
      return user && { session: SESSION.read(session), user: USER.read(user) }
    },
    async sessionsOf(userId, limit) {
      const rows = await query(
        `SELECT * FROM ${t.sessions} WHERE user_id = $1 ORDER BY seen_at DESC, hash LIMIT $2`,
        [userId, limit],
      )
      return rows.map(SESSION.read)
    },
    async usersOf(accountId, { limit, after }) {
      const rows = await query(
        `SELECT ${MEMBER_COLUMNS} FROM ${t.users}
         WHERE account_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
        [accountId, after ?? BEHIND_ALL, limit + 1],
      )
      return cutPage(rows.map(MEMBER.read), limit)
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
      const { sql, bind } = insertion(ACCOUNT.write(account))
      await query(`INSERT INTO ${t.accounts} ${sql}`, bind)
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
      const { sql, bind } = insertion(USER.write(user))
      const rows = await query(
        `INSERT INTO ${t.users} ${sql} ON CONFLICT (email) DO NOTHING RETURNING id`,
        bind,
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
      const { sql, bind } = insertion(SESSION.write(session))
      await query(`INSERT INTO ${t.sessions} ${sql}`, bind)
      await query(`UPDATE ${t.users} SET signed_in_at = $2 WHERE id = $1`, [
        session.user_id,
        session.created_at,
      ])
    },
    async touchSession(hash, changes) {
      const set = assignments(changes, 2)
      await query(`UPDATE ${t.sessions} SET ${set.sql} WHERE hash = $1`, [hash, ...set.bind])
    },
    async deleteSessions(which) {
      if ('hash' in which) {
        await query(`DELETE FROM ${t.sessions} WHERE hash = $1`, [which.hash])
        return
      }
      if ('latest' in which) {
        await query(
          `DELETE FROM ${t.sessions} WHERE user_id = $1 AND hash NOT IN (SELECT hash
             FROM ${t.sessions} WHERE user_id = $1 ORDER BY seen_at DESC, hash LIMIT $2)`,
          [which.user_id, which.latest],
        )
        return
      }
      await query(
        `DELETE FROM ${t.sessions} WHERE user_id = $1 AND (CAST($2 AS TEXT) IS NULL OR hash <> $2)`,
        [which.user_id, which.kept],
      )
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
