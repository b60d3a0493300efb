import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'

export const SERVICE_KINDS = ['database', 'storage', 'email', 'ai', 'custom'] as const

export type ServiceKind = (typeof SERVICE_KINDS)[number]

export interface SealedServiceSecret {
  readonly name: string
  readonly sealed: string
}

/** What an app needs beside itself, and how to get at it; of its secrets the names alone. */
export interface ListedService {
  readonly app_id: string
  /** Of an app's services no two have the same. */
  readonly name: string
  readonly kind: ServiceKind
  /** What anybody may know who sees the app. */
  readonly config: Readonly<Record<string, string>>
  /** By their names. */
  readonly secrets: readonly { readonly name: string }[]
  readonly created_at: Instant
  readonly updated_at: Instant
}

export interface ServiceRecord extends ListedService {
  /** Each sealed under its `secretIdOf`. */
  readonly secrets: readonly SealedServiceSecret[]
}

/** By name, from the first; `after` is the last name of the page before. */
export interface ServiceListQuery extends PageQuery {
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
