import type { KeyhookError } from '../../lib/errors.ts'
import { httpError } from '../operations/errors.ts'
import { createFairPool } from '../limits/fair-pool.ts'
import type { Principal } from '../authority/principal.ts'
import { callerName } from '../authority/principal.ts'

/**
 * Concurrent uploads of one account while another account has any, and as many downloads. Without
 * competition, only the byte pools limit an account.
 */
const AT_ONCE = 8
/**
 * Bytes of an account's uploads that nothing references yet: two of the largest, or many smaller ones. This
 * also limits an account without competition, because it bounds what a disk holds in vain.
 */
const MOST_BYTES = 1_073_741_824
/** Seconds until a transfer may have ended. */
const COME_BACK = 2

/** An upload or a download in progress. */
export interface Transfer {
  /** Counts received bytes; returns the refusal of bytes beyond the account's limit. */
  hold(bytes: number): KeyhookError | undefined
  /** Ends it. Idempotent. */
  end(): void
}

/** Transfers in progress in this process, by account. */
export interface Transfers {
  /** @throws KeyhookError `too_many_transfers` */
  begin(way: 'upload' | 'download', principal: Principal | undefined, address: string): Transfer
}

const ignore = (): void => undefined

export function createTransfers(): Transfers {
  const counts = {
    upload: createFairPool({ limit: Infinity }),
    download: createFairPool({ limit: Infinity }),
  }
  const stored = createFairPool({ limit: Infinity, each: MOST_BYTES })
  return {
    begin(way, principal, address) {
      const holder = principal?.account_id ?? callerName(principal, address)
      const count = counts[way]
      const own = count.heldBy(holder)
      if (own >= AT_ONCE && count.used > own) throw tooMany({ limit: AT_ONCE })
      const slot = count.take(holder, 1, ignore)
      const bytes = stored.take(`${way} ${holder}`, 0, ignore)
      let isOver = false
      return {
        hold: (more) =>
          isOver || bytes?.add(more) === true ? undefined : tooMany({ limit_bytes: MOST_BYTES }),
        end() {
          isOver = true
          slot?.release()
          bytes?.release()
        },
      }
    },
  }
}

function tooMany(limit: Readonly<Record<string, number>>): KeyhookError {
  return httpError('too_many_transfers', { details: { ...limit, retry_after: COME_BACK } })
}
