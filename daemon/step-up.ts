import type { Instant, Millis } from '../lib/time.ts'
import { MINUTE } from '../lib/time.ts'
import { httpError } from './errors.ts'
import type { Principal } from './principal.ts'

/** How long a sign-in, or a password that was sent again, opens what needs proof. */
const STEP_UP: Millis = 10 * MINUTE

/** @throws KeyhookError `step_up_required` for a user who last proved who they are too long ago */
export function requireStepUp(principal: Principal | undefined, now: Instant): void {
  if (principal?.type === 'user' && principal.authenticated_at + STEP_UP <= now) {
    throw httpError('step_up_required')
  }
}
