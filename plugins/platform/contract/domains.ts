import type { Creator } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'

/** `verifying`: one of its two records was found. Once `failed` it is not looked at by itself any more. */
export const DOMAIN_STATUSES = ['pending', 'verifying', 'verified', 'failed'] as const

export type DomainStatus = (typeof DOMAIN_STATUSES)[number]

/** What the last look at a domain led to. */
export interface DomainStanding {
  readonly status: DomainStatus
  /** Whether the record was found that proves whose the hostname is. */
  readonly owned: boolean
  /** Whether the hostname leads to the apps of this service. */
  readonly routed: boolean
  /** What stands against it; a code. */
  readonly error: string | null
  /** Looks in a row, of those that it is scheduled for, that failed. */
  readonly failures: number
  /** Since when it is to be verified. */
  readonly waiting_since: Instant
  readonly checked_at: Instant | null
  readonly verified_at: Instant | null
  /** When it is looked at next; null once it failed. */
  readonly next_check_at: Instant | null
}

/** A hostname that somebody says is theirs, and is to lead to an app. */
export interface DomainRecord extends DomainStanding {
  /** Time-ordered. */
  readonly id: string
  readonly app_id: string
  readonly account_id: string
  /** Lower case, without a final dot. Of those that are verified no two have the same. */
  readonly hostname: string
  /** What its owner is to put where only the owner can. */
  readonly token: string
  /** Of an app's domains at most one is, and one that is verified. */
  readonly primary: boolean
  readonly created_by: Creator
  readonly created_at: Instant
}

export interface DomainListQuery extends PageQuery {
  readonly app_id: string
}

export interface DomainReads {
  get(appId: string, id: string): Promise<DomainRecord | undefined>
  list(query: DomainListQuery): Promise<Page<DomainRecord>>
  /** How many an app has, whatever their status. */
  count(appId: string): Promise<number>
  /** The verified domain of this hostname, unless its app is archived. */
  domainByHostname(hostname: string): Promise<DomainRecord | undefined>
  /** Whether `claimDue` would find anything. */
  isClaimable(due: DomainsDue): Promise<boolean>
}

/** What is due by now. What lies further ahead than anything is put was put there by a clock that was ahead. */
export interface DomainsDue {
  readonly now: Instant
  /** A look that is to come after it is due. */
  readonly furthest_check: Instant
  /** A lease that is to end after it has ended. */
  readonly furthest_lease: Instant
}

/** A look at a domain, which one process takes at a time. */
export interface DomainClaim extends DomainsDue {
  /** Unique to this one deed. */
  readonly claim: string
  readonly lease_until: Instant
}

export interface DomainWrites extends DomainReads {
  /**
   * False, inserting nothing, when the app has this hostname already, or it is verified for another:
   * hostnames that nobody has proved yet may wait side by side.
   */
  insert(domain: DomainRecord): Promise<boolean>
  /**
   * Makes it the app's primary domain in the place of any other, or not any more. False, changing
   * nothing, when there is no such domain, or it is to be primary and is not verified.
   */
  setPrimary(appId: string, id: string, primary: boolean): Promise<boolean>
  /** Deletes it whatever its status, under way or not. False when there is none. */
  remove(appId: string, id: string): Promise<boolean>
  /** Begins a look at the domain that has been due longest. Of concurrent callers each gets another. */
  claimDue(asked: DomainClaim): Promise<DomainRecord | undefined>
  /**
   * Begins a look at this domain, due or not. Undefined, changing nothing, when one is under way, or the
   * last was after `since`, and no further ahead of now than that is behind: of concurrent callers one
   * gets it.
   */
  claimOne(
    appId: string,
    id: string,
    asked: DomainClaim & { readonly since: Instant },
  ): Promise<DomainRecord | undefined>
  /**
   * Records what a look led to; one that is not verified is not primary any more.
   *
   * `taken`, changing nothing, when it would be verified while another of its hostname is: of two that
   * are proved at once one wins, and the look goes on. `lost`, changing nothing, when it is not this
   * claim's any more: it was deleted, or given to another.
   *
   * @param before as it was claimed
   */
  settle(
    before: Pick<DomainRecord, 'id' | 'status'>,
    claim: string,
    standing: DomainStanding,
  ): Promise<'settled' | 'taken' | 'lost'>
}
