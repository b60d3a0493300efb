import type { Instant, Millis } from '../../../lib/time.ts'
import { MINUTE, SECOND } from '../../../lib/time.ts'
import { httpError } from '../../operations/errors.ts'
import { LruCache } from '../../../lib/internal/lru-cache.ts'

/** Limits the failures of a caller. */
export interface Throttle {
  /**
   * Counts an attempt before its outcome is known, so that concurrent attempts all count.
   *
   * @throws KeyhookError `rate_limited` after too many failures of the caller
   */
  attempt(caller: string, now: Instant): void
  /** Removes the latest attempt: it had no outcome. */
  undo(caller: string): void
  /** Forgets the failures of a caller that succeeded. */
  clear(caller: string): void
}

/**
 * @param options.limit failures within the window; default 5
 * @param options.window default 15 minutes
 * @param options.callers callers remembered, the latest; default 10 000
 * @example
 * const throttle = createThrottle()
 * throttle.attempt('127.0.0.1 owner@example.com', Date.now())
 */
export function createThrottle(
  options: { readonly limit?: number; readonly window?: Millis; readonly callers?: number } = {},
): Throttle {
  const { limit = 5, window = 15 * MINUTE, callers = 10_000 } = options
  /** Instants of attempts, oldest first, by caller. */
  const attempts = new LruCache<readonly Instant[]>({ max: callers })

  return {
    attempt(caller, now) {
      // Instants in the future were counted before the clock was set back.
      const recent = (attempts.get(caller) ?? []).filter((at) => at > now - window && at <= now)
      const [oldest] = recent
      if (oldest !== undefined && recent.length >= limit) {
        const retry_after = Math.ceil((oldest + window - now) / SECOND)
        throw httpError('rate_limited', { details: { retry_after } })
      }
      attempts.set(caller, [...recent, now])
    },
    undo(caller) {
      const rest = (attempts.get(caller) ?? []).slice(0, -1)
      if (rest.length === 0) attempts.delete(caller)
      else attempts.set(caller, rest)
    },
    clear(caller) {
      attempts.delete(caller)
    },
  }
}

/** An attempt at a password: from where, and for which address. */
export interface Guess {
  readonly network: string
  readonly email: string
}

/** Limits attempts at passwords on every path that checks one. */
export interface Guesses {
  /**
   * Runs one check of a password. Only a result of undefined counts as a failure.
   *
   * @throws KeyhookError `rate_limited` after too many failures of the network
   */
  check<T>(guess: Guess, now: Instant, work: () => Promise<T | undefined>): Promise<T | undefined>
}

/** Maximum failures of one network on all email addresses together. */
const OF_NETWORK = 30

/**
 * Counts failures by network, and by network and email address; never by address alone, because then anyone
 * could lock out its owner. The queue of password hashes limits attempts from many networks.
 */
export function createGuesses(): Guesses {
  const ofNetwork = createThrottle({ limit: OF_NETWORK, callers: 50_000 })
  const ofEmail = createThrottle({ callers: 50_000 })
  return {
    async check({ network, email }, now, work) {
      const caller = `${network} ${email}`
      ofEmail.attempt(caller, now)
      try {
        ofNetwork.attempt(network, now)
      } catch (cause) {
        ofEmail.undo(caller)
        throw cause
      }
      const outcome = await work().catch((cause: unknown) => {
        ofEmail.undo(caller)
        ofNetwork.undo(network)
        throw cause
      })
      if (outcome === undefined) return undefined
      ofEmail.clear(caller)
      // A success with one's own account must not clear the failures with others.
      ofNetwork.undo(network)
      return outcome
    },
  }
}
