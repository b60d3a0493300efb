import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import type { IdempotencyRecord } from '../../plugins/store/contract/requests.ts'
import { writeBegun } from '../queues/writes.ts'
import type { AnyCall } from './perform.ts'

/** How long a claim holds without renewal: when the process dies, the key is free after it. */
export const LEASE: Millis = MINUTE
/** A renewal may wait for the writer, and one after a failed renewal may succeed. */
const RENEWED_EVERY: Millis = LEASE / 3

/** A claimed `Idempotency-Key`: `created_at` distinguishes it from earlier and later claims. */
type Claim = Pick<IdempotencyRecord, 'scope' | 'key' | 'created_at'>

/**
 * Renews a claim while the work runs.
 *
 * @returns ends the renewals; resolves once none is in progress
 */
export function keepClaim(call: AnyCall, claim: Claim): () => Promise<void> {
  const { clock } = call.platform
  let renewing: Promise<void> = Promise.resolve()
  let hasEnded = false
  let cancel = clock.after(RENEWED_EVERY, renew, 'background')

  function renew(): void {
    renewing = writeBegun(call, ({ requests }) =>
      requests.renewIdempotency({ ...claim, expires_at: clock.now() + LEASE }),
    )
      .catch(call.report)
      .finally(() => {
        if (!hasEnded) cancel = clock.after(RENEWED_EVERY, renew, 'background')
      })
  }

  return async () => {
    hasEnded = true
    cancel()
    await renewing
  }
}

/** Releases a claim after its work failed; when that fails, the claim stays until it expires. */
export async function giveBack(call: AnyCall, claim: Claim): Promise<void> {
  await writeBegun(call, ({ requests }) => requests.dropIdempotency(claim)).catch(call.report)
}
