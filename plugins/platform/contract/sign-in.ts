import type { Instant } from '../../../lib/time.ts'

export const SIGNUPS = ['open', 'invite', 'closed'] as const

/** How the users of an app sign in to it. */
export interface SignInSettings {
  readonly enabled: boolean
  readonly providers: readonly string[]
  /** Addresses that a sign-in may lead back to. */
  readonly allowed_redirects: readonly string[]
  /** In seconds. */
  readonly session_ttl: number
  /** Who may become a user. */
  readonly signup: (typeof SIGNUPS)[number]
}

/** Of an app of which nothing was said: nobody gets in. */
export const NO_SIGN_IN: SignInSettings = {
  enabled: false,
  providers: [],
  allowed_redirects: [],
  session_ttl: 86_400,
  signup: 'closed',
}

export interface SignInRecord extends SignInSettings {
  readonly app_id: string
  readonly updated_at: Instant
}

export interface SignInReads {
  get(appId: string): Promise<SignInRecord | undefined>
}

export interface SignInWrites extends SignInReads {
  /**
   * Changes the named settings alone; the others stay, or are as `NO_SIGN_IN` says. It emits a change of the
   * app's site, since hosts serve no app that asks visitors to sign in.
   */
  change(appId: string, changes: Partial<SignInSettings>, now: Instant): Promise<void>
}
