import type { Instant } from '../../../lib/time.ts'
import type { RecordOf } from '../model/define.ts'
import type { SIGN_IN } from '../models/sign-in.ts'

export { SIGNUPS } from '../models/sign-in.ts'

export type SignInRecord = RecordOf<typeof SIGN_IN>

/** How the users of an app sign in to it. */
export type SignInSettings = Omit<SignInRecord, 'app_id' | 'updated_at'>

/** Of an app of which nothing was said: nobody gets in. */
export const NO_SIGN_IN: SignInSettings = {
  enabled: false,
  providers: [],
  allowed_redirects: [],
  session_ttl: 86_400,
  signup: 'closed',
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
