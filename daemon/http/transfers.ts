import type { KeyhookError } from '../../lib/errors.ts'
import { httpError } from '../errors.ts'
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

interface UnderWay {
  count: number
  bytes: number
}

export function createTransfers(): Transfers {
  const all = new Map<string, UnderWay>()
  return {
    begin(way, principal, address) {
      const whose = `${way} ${principal?.account_id ?? callerOf(principal, address)}`
      const own = all.get(whose) ?? { count: 0, bytes: 0 }
      if (own.count >= AT_ONCE) throw tooMany({ limit: AT_ONCE })
      own.count += 1
      all.set(whose, own)
      let held = 0
      let isOver = false
      return {
        hold(bytes) {
          if (isOver) return undefined
          held += bytes
          own.bytes += bytes
          return own.bytes > MOST_BYTES ? tooMany({ limit_bytes: MOST_BYTES }) : undefined
        },
        end() {
          if (isOver) return
          isOver = true
          own.bytes -= held
          own.count -= 1
          if (own.count === 0) all.delete(whose)
        },
      }
    },
  }
}

function tooMany(limit: Readonly<Record<string, number>>): KeyhookError {
  return httpError('too_many_transfers', { details: { ...limit, retry_after: COME_BACK } })
}
