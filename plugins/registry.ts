/**
 * Every built-in implementation, each loaded when it is asked for: this is the only file that names
 * them.
 *
 * @module
 */
import type { AppBytes } from './apps/contract.ts'
import type { DatabaseBytesOptions } from './apps/database.ts'
import type { DiskBytesOptions } from './apps/disk.ts'
import type { EgressClient } from './egress/contract.ts'
import type { EgressClientOptions } from './egress/undici.ts'
import type { OpenOptions, OpenedStore } from './store/open.ts'

export type { OpenOptions } from './store/open.ts'

/**
 * Opens the store over what an embedder hands over, or over an address.
 *
 * @throws TypeError for what is no database
 */
export async function openDatabase(
  database: unknown,
  options: OpenOptions = {},
): Promise<OpenedStore> {
  const { openStore } = await import('./store/open.ts')
  return openStore(database, options)
}

/** Where the bytes of apps may lie. */
export const APP_BYTES = {
  disk: async (options: DiskBytesOptions): Promise<AppBytes> =>
    (await import('./apps/disk.ts')).openDiskBytes(options),
  database: async (options: DatabaseBytesOptions): Promise<AppBytes> =>
    (await import('./apps/database.ts')).openDatabaseBytes(options),
} as const

export const EGRESS: Readonly<
  Record<'undici', () => Promise<(options: EgressClientOptions) => EgressClient>>
> = {
  undici: async () => (await import('./egress/undici.ts')).createEgressClient,
}
