import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from './page.ts'

export type Plan = 'free' | 'pro'

/** Who owns things. */
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

export interface SessionRecord {
  /** SHA-256 of the cookie's value. */
  readonly hash: string
  readonly user_id: string
  readonly created_at: Instant
  readonly expires_at: Instant
  /** Its last use, to within a minute. */
  readonly seen_at: Instant
  /** When its user last proved who they are. */
  readonly authenticated_at: Instant
}

export interface AccountReads {
  get(id: string): Promise<AccountRecord | undefined>
  list(query: PageQuery): Promise<Page<AccountRecord>>
  userByEmail(email: string): Promise<UserRecord | undefined>
  /** The session and its user; whether it has expired is the caller's to judge. */
  session(hash: string): Promise<{ session: SessionRecord; user: UserRecord } | undefined>
  anyUser(): Promise<boolean>
  /** Ids of accounts that have a user, each once, ascending, at most `limit`. */
  withUsers(limit: number): Promise<readonly string[]>
  /** A value kept under a name since the first start, such as the brand. */
  meta(name: string): Promise<string | undefined>
}

export interface AccountWrites extends AccountReads {
  insert(account: AccountRecord): Promise<void>
  setPlan(id: string, plan: Plan, now: Instant): Promise<boolean>
  /** False, changing nothing, for an unknown account. Keys beyond a lower limit stay. */
  setKeyLimit(id: string, limit: number | null, now: Instant): Promise<boolean>
  /** Suspends an account, or lets it go on. False, changing nothing, when it was so already. */
  setSuspended(id: string, suspended: boolean, now: Instant): Promise<boolean>
  /** False, changing nothing, when the address is taken. */
  insertUser(user: UserRecord): Promise<boolean>
  setPassword(userId: string, password: string, now: Instant): Promise<void>
  insertSession(session: SessionRecord): Promise<void>
  touchSession(
    hash: string,
    changes: Partial<Pick<SessionRecord, 'seen_at' | 'authenticated_at'>>,
  ): Promise<void>
  deleteSession(hash: string): Promise<void>
  deleteSessionsOf(userId: string): Promise<void>
  /** Replaces every setup link by this one. */
  putSetupLink(hash: string, expiresAt: Instant): Promise<void>
  /** Uses a link up. Of concurrent callers exactly one gets true; an expired link is nobody's. */
  takeSetupLink(hash: string, now: Instant): Promise<boolean>
  /** Keeps the first value given under a name, and answers the one that is kept. */
  putMetaOnce(name: string, value: string): Promise<string>
}
