import type { Credit, KeyBudget, LedgerWrites } from '../../plugins/platform/contract/ledger.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { SqlClient } from '../../plugins/store/sql/client.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import type { LedgerModel } from './ledger-model.ts'
import { createLedgerModel } from './ledger-model.ts'

export const BUDGETS: readonly KeyBudget[] = [
  { key_id: 'root', monthly_micros: 120 },
  { key_id: 'child', monthly_micros: 50 },
]

/** The ledger as a mistake would make it. */
export type LedgerDefect = (ledger: LedgerWrites) => LedgerWrites

/** What a processor knows of a payment. */
export interface Payment {
  readonly credit: Credit
  readonly charge_id: string
  readonly paid: number
  /** By all charges of its credit. */
  readonly total: number
  readonly items: { readonly amount: number; active: boolean }[]
}

/** A ledger that is stepped through, and its model. */
export interface LedgerWorld {
  readonly random: SeededRandom
  model: LedgerModel
  readonly store: PlatformStore
  readonly client: SqlClient
  readonly defect: LedgerDefect
  /** Ids of accounts that are in use. */
  accounts: readonly string[]
  /** Those that the step may have changed. */
  readonly touched: Set<string>
  now: number
  /** Numbers given out so far. */
  number: number
  readonly credits: Credit[]
  /** Ids that the ledger gave to credits, by the account and key of the credit. */
  readonly ids: Map<string, string>
}

/** One whose processor is played by the steps themselves. */
export interface World extends LedgerWorld {
  readonly payments: Payment[]
}

export type Stepped = Pick<LedgerWorld, 'store' | 'client'>

export function createLedgerWorld(
  { store, client }: Stepped,
  seed: string,
  defect: LedgerDefect = (ledger) => ledger,
): LedgerWorld {
  return {
    random: createSeededRandom(seed),
    model: createLedgerModel(),
    store,
    client,
    defect,
    accounts: [],
    touched: new Set(),
    now: Date.UTC(2026, 0, 20),
    number: 0,
    credits: [],
    ids: new Map(),
  }
}

export const told = (value: unknown): string => JSON.stringify(value)
