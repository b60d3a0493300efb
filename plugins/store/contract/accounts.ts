import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from './page.ts'

export type Plan = 'free' | 'pro'

/** An account: the tenant that owns resources. */
export interface AccountRecord {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  /** Maximum live keys; null uses the process's default. */
  readonly key_limit: number | null
  readonly suspended_at: Instant | null
  readonly created_at: Instant
  readonly updated_at: Instant
}

/** A person who signs in. `password` is a hash with its parameters. */
export interface UserRecord {
  readonly id: string
  readonly account_id: string
  readonly email: string
  readonly password: string
  readonly created_at: Instant
  readonly updated_at: Instant
}

/** A user of an account, without the password, and the start of the latest session ever. */
export interface MemberRecord extends Omit<UserRecord, 'password'> {
  readonly signed_in_at: Instant | null
}

export interface SessionRecord {
  /** SHA-256 of the cookie's value. */
  readonly hash: string
  readonly user_id: string
  readonly created_at: Instant
  readonly expires_at: Instant
  /** Its last use, accurate to a minute. */
  readonly seen_at: Instant
  /** When its user last authenticated. */
  readonly authenticated_at: Instant
}

/** One session, or those of a user: all but the one with the hash `kept`, or all but the `latest` last used. */
export type SessionsToDelete =
  | { readonly hash: string }
  | { readonly user_id: string; readonly kept: string | null }
  | { readonly user_id: string; readonly latest: number }

export interface AccountReads {
  get(id: string): Promise<AccountRecord | undefined>
  list(query: PageQuery): Promise<Page<AccountRecord>>
  userByEmail(email: string): Promise<UserRecord | undefined>
  /** The session and its user. The caller checks whether it has expired. */
  session(hash: string): Promise<{ session: SessionRecord; user: UserRecord } | undefined>
  /** Sessions of a user, expired or not, last used first, at most `limit`. */
  sessionsOf(userId: string, limit: number): Promise<readonly SessionRecord[]>
  /** Users of an account. */
  usersOf(accountId: string, query: PageQuery): Promise<Page<MemberRecord>>
  /** Ids of accounts that have a user, each once, ascending, at most `limit`. */
  withUsers(limit: number): Promise<readonly string[]>
  /** A named value of the installation, such as the brand. */
  meta(name: string): Promise<string | undefined>
}

export interface AccountWrites extends AccountReads {
  insert(account: AccountRecord): Promise<void>
  setPlan(id: string, plan: Plan, now: Instant): Promise<boolean>
  /** False, changing nothing, for an unknown account. Keys beyond a lower limit stay. */
  setKeyLimit(id: string, limit: number | null, now: Instant): Promise<boolean>
  /** Suspends or resumes an account. False, changing nothing, when it already was. */
  setSuspended(id: string, suspended: boolean, now: Instant): Promise<boolean>
  /** False, changing nothing, when the address is taken. */
  insertUser(user: UserRecord): Promise<boolean>
  setPassword(userId: string, password: string, now: Instant): Promise<void>
  /** Its user has signed in at its `created_at`. */
  insertSession(session: SessionRecord): Promise<void>
  touchSession(
    hash: string,
    changes: Partial<Pick<SessionRecord, 'seen_at' | 'authenticated_at'>>,
  ): Promise<void>
  deleteSessions(which: SessionsToDelete): Promise<void>
  /** Replaces all setup links by this one. */
  putSetupLink(hash: string, expiresAt: Instant): Promise<void>
  /** Consumes a link. Of concurrent callers exactly one gets true; none for an expired link. */
  takeSetupLink(hash: string, now: Instant): Promise<boolean>
  /** Stores a value under a name unless there is one, and returns the stored value. */
  putMetaOnce(name: string, value: string): Promise<string>
}
