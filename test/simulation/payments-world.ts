import type { Runner } from '../../daemon/jobs/runner.ts'
import type { Platform } from '../../daemon/platform.ts'
import type { ObjectRef } from '../../plugins/billing/contract.ts'
import type { MemoryProcessor } from '../../plugins/billing/memory.ts'
import type { Answers } from './ledger-steps.ts'
import type { LedgerWorld } from './ledger-world.ts'
import type { PaymentsModel } from './payments-model.ts'

/** The memory processor takes whole hundredths; the model of the ledger remembers every micro. */
export const CENT = 10_000
export const NEVER: AbortSignal = new AbortController().signal

/** The product with its processor, and the model of both. */
export interface PaymentsWorld extends LedgerWorld {
  readonly platform: Platform
  readonly memory: MemoryProcessor
  readonly runner: Runner
  payments: PaymentsModel
  /** The processor's clock, which is right. */
  truth: number
  /** When nothing was lost or on its way. */
  settled: number
  /** What was fetched in this step. */
  readonly fetched: ObjectRef[]
  /** What was published in this step. */
  readonly published: string[]
  /** Fetches that fail. */
  failing: number
  /** Events on their way. */
  onTheirWay: Uint8Array[]
}

/** Every fetch is told to the model, which says what must have been published of it. */
export function answer(
  world: PaymentsWorld,
  expected: unknown = null,
  found: unknown = null,
): Answers {
  const { fetched, published, payments, now, touched } = world
  const told: string[] = []
  for (const ref of fetched.splice(0)) {
    const { account, events } = payments.apply(ref, now)
    if (account !== undefined) touched.add(account)
    told.push(...events)
  }
  const seen = published.splice(0).filter((type) => type !== 'billing.subscription_changed')
  return {
    expected: { answer: expected, events: told },
    found: { answer: found, events: seen },
  }
}

export const anyAccount = (world: PaymentsWorld): string =>
  world.random.pickAny(world.accounts) ?? ''
