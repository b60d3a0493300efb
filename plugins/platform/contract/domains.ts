import type { Instant } from '../../../lib/time.ts'
import type { RecordOf } from '../model/define.ts'
import type { DOMAINS } from '../models/domains.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'

export { DOMAIN_STATUSES } from '../models/domains.ts'

export type DomainRecord = RecordOf<typeof DOMAINS>

/** What the last check of a domain found. */
export type DomainStanding = Pick<
  DomainRecord,
  | 'status'
  | 'owned'
  | 'routed'
  | 'error'
  | 'failures'
  | 'waiting_since'
  | 'checked_at'
  | 'verified_at'
  | 'next_check_at'
>

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
