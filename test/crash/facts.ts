/** What the driver's journal says, line by line: each try of each operation, and how it ended. */

import { LEASE_MARGIN } from '../../lib/engine/ports.ts'
import type { Outcome } from './wire.ts'

/** What was asked, noted before the first try. */
export type Intent =
  | {
      readonly kind: 'publish'
      readonly type: string
      /** One per event, found again in its data. */
      readonly marks: readonly string[]
    }
  | { readonly kind: 'webhook.create'; readonly path: string; readonly types: readonly string[] }
  | { readonly kind: 'webhook.disable' | 'webhook.enable' | 'webhook.delete'; readonly id: string }
  | { readonly kind: 'secret.rotate'; readonly id: string; readonly overlap: number }
  | { readonly kind: 'key.create'; readonly name: string; readonly parent: string | null }
  | { readonly kind: 'key.rotate'; readonly id: string; readonly old: readonly string[] }
  /** With every value that ends with it, those of its children included. */
  | { readonly kind: 'key.revoke'; readonly id: string; readonly values: readonly string[] }
  | { readonly kind: 'probe'; readonly value: string; readonly expect: 'live' | 'dead' }

export interface Call {
  readonly t: 'call'
  readonly op: number
  readonly at: number
  readonly intent: Intent
}

/** One request, and what came of it. */
export interface Try {
  readonly t: 'try'
  readonly op: number
  readonly at: number
  readonly outcome: Outcome
  readonly status: number
}

/** How it ended: an `unknown` here could not be asked again. */
export interface End {
  readonly t: 'end'
  readonly op: number
  readonly at: number
  readonly outcome: Outcome
  readonly status: number
  /** Of a refusal. */
  readonly code?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly id?: string | undefined
  /** A secret or a key's value; null when the answer that showed it was lost. */
  readonly shown?: string | null | undefined
}

export type DriverLine = Call | Try | End

/** How long an attempt may take, in the daemons of a run. */
export const TIMEOUT = 1000
/** How long a claim lasts at most. */
export const LEASE: number = TIMEOUT + LEASE_MARGIN
/**
 * Seconds after each failed attempt. Receivers that fail at first fail twice: on a busy machine two more may time out
 * before a delivery is given up.
 */
export const SCHEDULE = [1, 1, 2, 2] as const

/** A webhook that lives as long as the run, and how its receiver behaves. */
export interface Fixture {
  readonly path: string
  readonly types: readonly string[]
  /** Sends a second: more than ever come, so that its pace is kept and holds nothing up. */
  readonly rate_limit?: number
}

export const FIXTURES: readonly Fixture[] = [
  { path: '/healthy/all', types: ['crash.a', 'crash.b', 'crash.c'] },
  { path: '/slow/b', types: ['crash.b'], rate_limit: 1000 },
  { path: '/flaky/a', types: ['crash.a'] },
  { path: '/failing/c', types: ['crash.c'] },
  { path: '/slow/toggled-1', types: ['crash.a'] },
  { path: '/flaky/toggled-2', types: ['crash.b'] },
  { path: '/healthy/toggled-3', types: ['crash.b'] },
  { path: '/slow/rotated', types: ['crash.b'] },
]

/** Of them, those that are never disabled and answer well in the end. */
export const mustArrive = (path: string): boolean => !/toggled|failing|temporary/.test(path)

export interface Webhook {
  readonly id: string
  readonly path: string
  readonly types: readonly string[]
}

/** What the driver is told at the start. */
export interface DriverOrders {
  readonly origins: readonly string[]
  readonly operator: string
  readonly account: string
  /** A key that may do everything. */
  readonly key: string
  readonly receiver: string
  readonly webhooks: readonly Webhook[]
  readonly seed: string
  readonly journal: string
}
