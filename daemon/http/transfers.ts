import type { KeyhookError } from '../../lib/errors.ts'
import { httpError } from '../operations/errors.ts'
import { createFairPool } from '../limits/fair-pool.ts'
import type { Principal } from '../authority/principal.ts'
import { callerOf } from '../authority/principal.ts'

/**
 * Uploads of one account at once while another account has any, and as many downloads. An account that is
 * alone has as many as the pools of bytes hold.
 */
const AT_ONCE = 8
/**
 * Bytes of an account's uploads that nothing names yet: two of the largest, or many smaller ones. Also of an
 * account that is alone, since it bounds what a disk holds for nothing.
 */
const MOST_BYTES = 1_073_741_824
/** Seconds until one of them may have ended. */
const COME_BACK = 2

/** An upload or a download under way. */
export interface Transfer {
  /** Counts bytes that came in; answers what stands against them, beyond what an account may have. */
  hold(bytes: number): KeyhookError | undefined
  /** It is over; told again, it changes nothing. */
  end(): void
}

/** What accounts have under way, as far as this process carries it. */
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
      const holder = principal?.account_id ?? callerOf(principal, address)
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
