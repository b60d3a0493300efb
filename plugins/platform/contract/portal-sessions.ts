import type { Instant } from '../../../lib/time.ts'
import type { RecordOf } from '../model/define.ts'
import type { PORTAL_SESSIONS } from '../models/portal-sessions.ts'

export type PortalSessionRecord = RecordOf<typeof PORTAL_SESSIONS>

/** One session, or all of an account; links that were not followed are among them. */
export type PortalSessionsToEnd = { readonly id: string } | { readonly account_id: string }

export interface PortalSessionReads {
  /** The session of a value, never a link. The caller checks whether it has expired. */
  get(hash: string): Promise<PortalSessionRecord | undefined>
}

export interface PortalSessionWrites extends PortalSessionReads {
  insert(link: PortalSessionRecord): Promise<void>
  /**
   * Turns a link into its session, which another value opens from then on. Of concurrent callers exactly one
   * gets it; none for an unknown, expired or followed link.
   */
  open(
    linkHash: string,
    session: Pick<PortalSessionRecord, 'hash' | 'expires_at'>,
    now: Instant,
  ): Promise<PortalSessionRecord | undefined>
  /** Deletes them, and returns their number. */
  end(which: PortalSessionsToEnd): Promise<number>
}
