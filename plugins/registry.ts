import type { EgressClient } from './egress/contract.ts'
import type { EgressClientOptions } from './egress/undici.ts'
import type { Store } from './store/contract.ts'

/** How a store is opened: its database brought up to date, ready to use. */
export type OpenStore = (place: string) => Promise<{
  readonly store: Store
  /** Names of the migrations that were taken. */
  readonly migrated: readonly string[]
}>

/**
 * Every built-in implementation by name, each loaded when it is asked for: this is the only file that
 * lists them.
 */
export const STORES: Readonly<Record<'sqlite', () => Promise<OpenStore>>> = {
  sqlite: async () => (await import('./store/open.ts')).openSqliteStore,
}

export const EGRESS: Readonly<
  Record<'undici', () => Promise<(options: EgressClientOptions) => EgressClient>>
> = {
  undici: async () => (await import('./egress/undici.ts')).createEgressClient,
}
