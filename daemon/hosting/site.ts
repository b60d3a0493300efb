import type { Instant, Millis } from '../../lib/time.ts'
import type { Manifest } from '../../plugins/deploy/contract.ts'

/** Kind of a site: its live release, or its current files. */
export type SiteKind = 'published' | 'preview'

/** Content of a host at one time. */
export interface Site {
  readonly app_id: string
  readonly kind: SiteKind
  /** Id of the live release; null for a preview. */
  readonly deployment_id: string | null
  readonly manifest: Manifest
  /** Earlier releases, latest first: open tabs still request their files of immutable names. */
  readonly earlier: readonly Pick<Manifest, 'files'>[]
}

/** Why a known host serves nothing. */
export type Offline = 'unpublished' | 'archived' | 'suspended' | 'sign_in'

export interface Sites {
  /**
   * Finds the site of a host; undefined for a host without an app. Synchronous when the cached site is
   * current.
   *
   * @param host lower case, without a port
   */
  find(host: string): Promise<Site | Offline | undefined> | Site | Offline | undefined
}

/** A request to an app after its response. */
export interface Served {
  readonly app_id: string
  readonly kind: SiteKind
  readonly deployment_id: string | null
  readonly request_id: string
  readonly at: Instant
  readonly method: string
  /** Without query, at most 1,024 characters. */
  readonly path: string
  readonly status: number
  /** Response body bytes sent. */
  readonly bytes: number
  readonly duration: Millis
}

/** Report of a page's own browser. */
export interface BrowserReport {
  readonly type: 'error' | 'unhandledrejection' | 'console' | 'csp' | 'deprecation' | 'crash'
  readonly message: string
  readonly stack: string | null
  /** Without query. */
  readonly url: string
  /** Release of the page, as it reports it. */
  readonly deployment_id: string | null
}

/** Receives served requests and reports; it never waits and never throws. */
export interface Observer {
  served(request: Served): void
  /**
   * @param network origin of the reports, by `networkOf`
   */
  reported(
    site: Pick<Site, 'app_id' | 'kind' | 'deployment_id'>,
    reports: readonly BrowserReport[],
    at: Instant,
    network: string,
  ): void
}
