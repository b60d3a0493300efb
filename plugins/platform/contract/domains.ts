import type { Instant } from '../../../lib/time.ts'
import type { RecordOf } from '../model/define.ts'
import type { DOMAINS } from '../models/domains.ts'
import type { JobClaim, LeasedJob } from './jobs.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'

export { DOMAIN_STATUSES } from '../models/domains.ts'

export type DomainRecord = RecordOf<typeof DOMAINS>

/** What the last check of a domain found. */
export type DomainState = Pick<
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
}

export interface DomainWrites extends DomainReads {
  /**
   * False, inserting nothing, when the app has this hostname already, or it is verified for another:
   * hostnames that nobody has proved yet may wait side by side. One that is to be checked has a job from then
   * on.
   */
  insert(domain: DomainRecord): Promise<boolean>
  /**
   * Makes it the app's primary domain in the place of any other, or not any more. False, changing
   * nothing, when there is no such domain, or it is to be primary and is not verified.
   */
  setPrimary(appId: string, id: string, primary: boolean): Promise<boolean>
  /** Deletes it and its job, whatever its status, checked at the moment or not. False when there is none. */
  remove(appId: string, id: string): Promise<boolean>
  /** The domain of a job, to be checked. Undefined when there is none. */
  begin(job: LeasedJob): Promise<DomainRecord | undefined>
  /**
   * Claims a check of this domain, due or not. Undefined, changing nothing, when it is being checked, or was
   * after `since`, and no further ahead of now than that is behind: of concurrent callers one gets it.
   */
  claimOne(
    appId: string,
    id: string,
    asked: JobClaim & { readonly since: Instant },
  ): Promise<DomainRecord | undefined>
  /**
   * Records what a check led to; one that is not verified is not primary any more. Its job waits until the
   * next check is due; without one it ends.
   *
   * `taken`, changing nothing, when it would be verified while another of its hostname is: of two that
   * are proved at once one wins, and the check goes on. `lost`, changing nothing, when it is not this
   * claim's any more: it was deleted, or given to another.
   *
   * @param before as it was claimed
   */
  settle(
    before: Pick<DomainRecord, 'id' | 'status'>,
    claim: string,
    state: DomainState,
  ): Promise<'settled' | 'taken' | 'lost'>
}
