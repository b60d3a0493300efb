import type { Instant } from '../../../lib/time.ts'
import type { RecordOf } from '../model/define.ts'
import type { SERVICES, SERVICE_SECRETS } from '../models/services.ts'
import type { Page, SizedPageQuery } from '../../store/contract/page.ts'

export { SERVICE_KINDS } from '../models/services.ts'

export type SealedServiceSecret = Pick<RecordOf<typeof SERVICE_SECRETS>, 'name' | 'sealed'>

/** A service with the names of its secrets alone, sorted. */
export interface ListedService extends RecordOf<typeof SERVICES> {
  readonly secrets: readonly { readonly name: string }[]
}

export interface ServiceRecord extends ListedService {
  /** Each sealed under its `secretIdOf`. */
  readonly secrets: readonly SealedServiceSecret[]
}

/** By name, from the first; `after` is the last name of the page before, `bytes` those of configurations. */
export interface ServiceListQuery extends SizedPageQuery {
  readonly app_id: string
}

export interface ServiceReads {
  get(appId: string, name: string): Promise<ServiceRecord | undefined>
  /** What is sealed is not read: it may be many megabytes. */
  list(query: ServiceListQuery): Promise<Page<ListedService>>
  count(appId: string): Promise<number>
}

export interface ServiceWrites extends ServiceReads {
  /**
   * Makes a service, or replaces its kind and configuration. Of its secrets those that are named are
   * replaced, or removed by null; the others stay.
   */
  put(
    service: Pick<ServiceRecord, 'app_id' | 'name' | 'kind' | 'config'>,
    secrets: ReadonlyMap<string, string | null>,
    now: Instant,
  ): Promise<void>
  /** Deletes it with its secrets. False when there is none. */
  remove(appId: string, name: string): Promise<boolean>
}

/** What a secret is known and sealed by; none of its parts holds a slash. */
export function secretIdOf(appId: string, service: string, name: string): string {
  return `${appId}/${service}/${name}`
}

/**
 * Where a secret of a service is sealed to: it opens as that of this app, service and name alone.
 *
 * @param secretId what `secretIdOf` answers
 */
export function serviceSecretAad(secretId: string): string {
  return `service_secret|${secretId}`
}
