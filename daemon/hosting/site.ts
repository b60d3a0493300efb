import type { Instant, Millis } from '../../lib/time.ts'
import type { Manifest } from '../../plugins/deploy/contract.ts'

/** What an address of an app leads to: its live release, or what its files are at present. */
export type SiteKind = 'published' | 'preview'

/** What one host serves at one time. */
export interface Site {
  readonly app_id: string
  readonly kind: SiteKind
  /** Of the live release; null for a preview. */
  readonly deployment_id: string | null
  readonly manifest: Manifest
  /** Of what was live before, the latest first: tabs that are open still ask for its files of immutable names. */
  readonly earlier: readonly Pick<Manifest, 'files'>[]
}

/** Why a host that is known serves nothing. */
export type Offline = 'unpublished' | 'archived' | 'suspended' | 'sign_in'

export interface Sites {
  /**
   * What a host serves; undefined for one that no app bears. From memory wherever what is kept is
   * current.
   *
   * @param host lower case, without a port
   */
  find(host: string): Promise<Site | Offline | undefined> | Site | Offline | undefined
}

/** One request to an app, once it was answered. */
export interface Served {
  readonly app_id: string
  readonly kind: SiteKind
  readonly deployment_id: string | null
  readonly request_id: string
  readonly at: Instant
  readonly method: string
  /** Without its query, at most 1,024 characters. */
  readonly path: string
  readonly status: number
  /** Of the body that was sent. */
  readonly bytes: number
  readonly duration: Millis
}

/** What a page's own browser told of it. */
export interface BrowserReport {
  readonly type: 'error' | 'unhandledrejection' | 'console' | 'csp' | 'deprecation' | 'crash'
  readonly message: string
  readonly stack: string | null
  /** Without its query. */
  readonly url: string
  /** Which release the page was of, as it says itself. */
  readonly deployment_id: string | null
}

/** Hears of what is served; it never waits and never throws. */
export interface Observer {
  served(request: Served): void
  /** @param network where the reports come from, as `networkOf` answers */
  reported(
    site: Pick<Site, 'app_id' | 'kind' | 'deployment_id'>,
    reports: readonly BrowserReport[],
    at: Instant,
    network: string,
  ): void
}
