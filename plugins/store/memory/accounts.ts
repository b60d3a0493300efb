import type { Instant } from '../../../lib/time.ts'
import type {
  AccountReads,
  AccountWrites,
  MemberRecord,
  SessionRecord,
  UserRecord,
} from '../contract/accounts.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { Reading, State } from './state.ts'
import { add, change, pageOf } from './state.ts'

export function accountReads(state: Reading): AccountReads {
  return {
    get: async (id) => state().accounts.get(id),
    list: async (query) => pageOf(state().accounts.values(), query),
    userByEmail: async (email) => [...state().users.values()].find((user) => user.email === email),
    async session(hash) {
      const session = state().sessions.get(hash)
      const user = session && state().users.get(session.user_id)
      return session && user && { session, user }
    },
    sessionsOf: async (userId, limit) => lastUsed(state(), userId).slice(0, limit),
    async usersOf(accountId, query) {
      const { users, signedIn } = state()
      const own = [...users.values()].filter(({ account_id }) => account_id === accountId)
      const page = pageOf(own, query)
      return { ...page, rows: page.rows.map((user) => toMember(user, signedIn.get(user.id))) }
    },
    async withUsers(limit) {
      const ids = [...state().users.values()].map(({ account_id }) => account_id)
      return [...new Set(ids)].sort().slice(0, limit)
    },
    meta: async (name) => state().meta.get(name),
  }
}

export function accountWrites(state: State, changes: ChangeSink): AccountWrites {
  const reads = accountReads(() => state)
  return {
    ...reads,
    async insert(account) {
      add(state.accounts, account.id, account)
    },
    setPlan: async (id, plan, now) => change(state.accounts, id, { plan, updated_at: now }),
    setKeyLimit: async (id, key_limit, now) =>
      change(state.accounts, id, { key_limit, updated_at: now }),
    async setSuspended(id, suspended, now) {
      const isActive = (state.accounts.get(id)?.suspended_at ?? null) === null
      if (isActive !== suspended) return false
      changes.push({ kind: 'account', id })
      return change(state.accounts, id, { suspended_at: suspended ? now : null, updated_at: now })
    },
    async insertUser(user) {
      if ((await reads.userByEmail(user.email)) !== undefined) return false
      add(state.users, user.id, user)
      return true
    },
    async setPassword(userId, password, now) {
      change(state.users, userId, { password, updated_at: now })
    },
    async insertSession(session) {
      add(state.sessions, session.hash, session)
      state.signedIn.set(session.user_id, session.created_at)
    },
    async touchSession(hash, changes) {
      change(state.sessions, hash, changes)
    },
    async deleteSessions(which) {
      if ('hash' in which) {
        state.sessions.delete(which.hash)
        return
      }
      const own = lastUsed(state, which.user_id)
      const ended =
        'latest' in which ? own.slice(which.latest) : own.filter(({ hash }) => hash !== which.kept)
      for (const { hash } of ended) state.sessions.delete(hash)
    },
    async putSetupLink(hash, expiresAt) {
      state.setupLinks.clear()
      state.setupLinks.set(hash, expiresAt)
    },
    async takeSetupLink(hash, now) {
      const expiresAt = state.setupLinks.get(hash)
      return expiresAt !== undefined && expiresAt > now && state.setupLinks.delete(hash)
    },
    async putMetaOnce(name, value) {
      const kept = state.meta.get(name) ?? value
      state.meta.set(name, kept)
      return kept
    },
  }
}

function toMember({ password, ...user }: UserRecord, signedIn: Instant | undefined): MemberRecord {
  void password
  return { ...user, signed_in_at: signedIn ?? null }
}

function lastUsed({ sessions }: Pick<State, 'sessions'>, userId: string): readonly SessionRecord[] {
  const own = [...sessions.values()].filter(({ user_id }) => user_id === userId)
  return own.sort((a, b) => b.seen_at - a.seen_at || (a.hash < b.hash ? -1 : 1))
}
