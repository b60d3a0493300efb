import type { Instant } from '../../../lib/time.ts'
import type { RecordOf } from '../model/define.ts'
import type { SITES } from '../models/deployments.ts'

export type SiteRecord = RecordOf<typeof SITES>

/** What an app serves, as its owner sees it. */
export interface SiteState extends SiteRecord {
  /** Whether a deployment is under way. */
  readonly in_progress: boolean
  /** Whether its account is suspended: nothing of it is served. */
  readonly suspended: boolean
}

/** What was live before. */
export interface EarlierRelease {
  /** Its manifest. */
  readonly artifact: string
  /** When it was live last. */
  readonly replaced_at: Instant
}

/** What a host leads to. */
export interface HostedApp {
  readonly app_id: string
  readonly account_id: string
  readonly archived: boolean
  readonly suspended: boolean
  /** Whether its settings ask visitors to sign in. */
  readonly sign_in: boolean
  readonly deployment_id: string | null
  /** The manifest of what is live. */
  readonly artifact: string | null
  /**
   * What was live before, the latest first, each manifest once and at most five; nothing from before the
   * last that was live and retired what was earlier.
   */
  readonly earlier: readonly EarlierRelease[]
  /** The tree of the current revision; null until there is one. */
  readonly tree: string | null
  /** Another may be live at any moment: who looks again later must not go by this. */
  readonly switching: boolean
}

/** How many manifests that were live before a host still serves files of. */
export const EARLIER = 5
