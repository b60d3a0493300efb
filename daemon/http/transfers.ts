import type { KeyhookError } from '../../lib/errors.ts'
import { httpError } from '../errors.ts'
import { createFairPool } from '../fair-pool.ts'
import type { Principal } from '../principal.ts'
import { callerOf } from '../principal.ts'

/** Uploads of one account that are under way at once, and as many downloads. */
const AT_ONCE = 8
/** Bytes of an account's uploads that nothing names yet: two of the largest, or many smaller ones. */
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
  const counts = createFairPool({ limit: Infinity, each: AT_ONCE })
  const stored = createFairPool({ limit: Infinity, each: MOST_BYTES })
  return {
    begin(way, principal, address) {
      const holder = `${way} ${principal?.account_id ?? callerOf(principal, address)}`
      const place = counts.take(holder, 1, ignore)
      if (place === undefined) throw tooMany({ limit: AT_ONCE })
      const bytes = stored.take(holder, 0, ignore)
      let isOver = false
      return {
        hold: (more) =>
          isOver || bytes?.add(more) === true ? undefined : tooMany({ limit_bytes: MOST_BYTES }),
        end() {
          isOver = true
          place.release()
          bytes?.release()
        },
      }
    },
  }
}

function tooMany(limit: Readonly<Record<string, number>>): KeyhookError {
  return httpError('too_many_transfers', { details: { ...limit, retry_after: COME_BACK } })
}
