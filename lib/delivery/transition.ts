import type { Instant } from '../time.ts'
import type { Verdict } from './outcome.ts'
import type { RetrySchedule } from './schedule.ts'
import { nextDelay } from './schedule.ts'
import type { DeliveryState, DeliveryStatus } from './state.ts'
import { FINAL_STATUSES } from './state.ts'

/** Everything that can happen to a delivery after its creation. */
export type DeliveryFact =
  | { readonly type: 'claimed'; readonly lease_until: Instant }
  | {
      readonly type: 'attempted'
      readonly verdict: Verdict
      readonly retryAfter: number | null
      readonly chance: number
    }
  | { readonly type: 'lease_ended' }
  | {
      readonly type: 'retry_requested'
      /** `replay`: one of many, which waits behind first attempts. Default `manual`. */
      readonly trigger?: 'manual' | 'replay'
    }
  | { readonly type: 'webhook_disabled' }
  | { readonly type: 'webhook_deleted' }

/**
 * The statuses in which each fact applies; in any other it changes nothing.
 *
 * Stores build the guards of their statements from this table, so that the SQL cannot diverge from it.
 */
export const MOVES: Readonly<Record<DeliveryFact['type'], readonly DeliveryStatus[]>> = {
  claimed: ['pending', 'delivering'],
  attempted: ['delivering'],
  lease_ended: ['delivering'],
  retry_requested: FINAL_STATUSES,
  webhook_disabled: ['pending'],
  webhook_deleted: ['pending', 'delivering'],
}

/**
 * Applies one fact to a delivery. A fact that does not apply returns the same state.
 *
 * @example
 * transition(state, { type: 'webhook_deleted' }, now, DEFAULT_SCHEDULE).status // 'canceled'
 */
export function transition(
  state: DeliveryState,
  fact: DeliveryFact,
  now: Instant,
  schedule: RetrySchedule,
): DeliveryState {
  if (!MOVES[fact.type].includes(state.status)) return state
  switch (fact.type) {
    case 'claimed':
      return { ...state, status: 'delivering', next_at: fact.lease_until }
    case 'attempted':
      return afterAttempt(state, fact, now, schedule)
    case 'lease_ended':
      return { ...state, status: 'pending', next_at: now }
    case 'retry_requested':
      return {
        ...state,
        status: 'pending',
        trigger: fact.trigger ?? 'manual',
        next_at: now,
        end_reason: null,
      }
    case 'webhook_disabled':
      return whenDisabled(state)
    case 'webhook_deleted':
      return { ...state, status: 'canceled', next_at: null }
  }
}

/** Exhausted when an attempt failed; skipped when none was made. */
function whenDisabled(state: DeliveryState): DeliveryState {
  return state.attempts === 0
    ? { ...state, status: 'skipped', next_at: null }
    : { ...state, status: 'exhausted', next_at: null, end_reason: 'webhook_disabled' }
}

const FINAL_OF: Readonly<Record<Verdict, DeliveryStatus>> = {
  succeeded: 'succeeded',
  failed: 'exhausted',
  gone: 'exhausted',
  blocked: 'blocked',
}

/** A manual attempt is final, whatever its result: it does not use the retry schedule. */
function afterAttempt(
  state: DeliveryState,
  fact: Extract<DeliveryFact, { type: 'attempted' }>,
  now: Instant,
  schedule: RetrySchedule,
): DeliveryState {
  const manual = state.trigger === 'manual' || state.trigger === 'test'
  const automatic = state.automatic + (manual ? 0 : 1)
  const attempts = state.attempts + 1
  const delay =
    manual || fact.verdict !== 'failed'
      ? null
      : nextDelay(schedule, automatic, fact.retryAfter, fact.chance)
  if (delay !== null) {
    const next_at = now + delay
    return { status: 'pending', attempts, automatic, trigger: 'retry', next_at, end_reason: null }
  }
  const { trigger } = state
  const status = FINAL_OF[fact.verdict]
  return { status, attempts, automatic, trigger, next_at: null, end_reason: null }
}
