import assert from 'node:assert/strict'
import type { Clock } from '../../../lib/engine/ports.ts'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import type { OtherProcess } from '../../other-process.ts'
import type { Store } from '../contract.ts'

/**
 * The store under test: opens an empty one for every case.
 *
 * Its capabilities: `concurrentReads` (reads are answered while a unit of work is open), `durable` (what is
 * committed outlives the process), `join`, `overlap`, `watch` and `manyProcesses` (as in the contract).
 */
export interface StoreHarness extends ConformanceHarness {
  /** Opens the store, empty and with its schema up to date. */
  open(): Promise<Store>
  /** Two connections to one empty store; given by a store that says `manyProcesses`. */
  openPair?(): Promise<readonly [Store, Store]>
  /** Closes the store, runs `work`, and opens the same store again; required for `durable`. */
  reopen?(work: () => Promise<void>): Promise<Store>
  /** How another process opens the store; required for `durable` and `manyProcesses`. */
  otherProcess?(): OtherProcess
  /**
   * Begins a transaction of the embedder on the store's database; required for a store with `join`. With
   * `overlap` it may be open while the store writes; otherwise the store is held.
   */
  begin?(store: Store): Promise<OpenTransaction>
  /** Where the cases take their instants from. */
  readonly clock: Pick<Clock, 'now'>
}

/** A transaction of an embedder's own. */
export interface OpenTransaction {
  /** What `join` takes. */
  readonly handle: unknown
  commit(): Promise<void>
  rollback(): Promise<void>
}

export type StoreCase = ConformanceCase<StoreHarness>

/** Two racers: on two connections where the store has them, else twice the same store. */
export async function openRacers(harness: StoreHarness): Promise<readonly [Store, Store]> {
  if (harness.openPair !== undefined) return harness.openPair()
  const store = await harness.open()
  return [store, store]
}

/** Asserts that exactly one of the racing callers won. */
export function assertOneWon(won: readonly boolean[]): void {
  assert.equal(won.filter(Boolean).length, 1)
}

/** A store that answers the same page again must fail, not go on for ever. */
const MOST_LISTED = 100

/** Every id of a listing, page by page; `between` runs after each page. */
export async function readPages(
  list: (after: string | null) => Promise<{
    readonly rows: readonly { readonly id: string }[]
    readonly more: boolean
  }>,
  between: () => Promise<void>,
): Promise<readonly string[]> {
  const seen: string[] = []
  for (let more = true; more && seen.length < MOST_LISTED;) {
    const page = await list(seen.at(-1) ?? null)
    seen.push(...page.rows.map(({ id }) => id))
    more = page.more
    await between()
  }
  return seen
}
