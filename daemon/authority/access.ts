import type { Instant, Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import { httpError } from '../operations/errors.ts'
import type { Principal } from './principal.ts'

/** Who may call an operation. */
export type Access =
  /** A key that holds the scope, a signed-in user, or the operator on behalf of an account. */
  | {
      readonly scope: string
      readonly pinned: 'allowed' | 'refused'
      /** The path parameter that names a key: acting on itself, a key needs no scope. */
      readonly self?: string
      /** The operator may also act for no account: for the whole service. */
      readonly service?: boolean
    }
  /** Any live key. */
  | 'key'
  | 'user'
  /** A signed-in user, or the operator on behalf of an account: never a key. */
  | 'owner'
  | 'operator'
  | 'public'

/** How long a sign-in, or a password that was sent again, opens what needs proof. */
const STEP_UP: Millis = 10 * MINUTE

/** @throws KeyhookError `step_up_required` for a user who last proved who they are too long ago */
export function requireStepUp(principal: Principal | undefined, now: Instant): void {
  if (principal?.type === 'user' && principal.authenticated_at + STEP_UP <= now) {
    throw httpError('step_up_required')
  }
}
