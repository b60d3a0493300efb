import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { StoredFacts } from '../../plugins/registry.ts'
import { ConfigError } from '../config/config.ts'

/**
 * Refuses a brand that differs from that of an existing database, before anything is changed.
 *
 * @throws ConfigError
 */
export async function requireBrand(stored: StoredFacts, brand: string): Promise<void> {
  const kept = await stored.meta('brand')
  if (kept !== undefined && kept !== brand) throw otherBrand(brand, kept)
}

function otherBrand(brand: string, kept: string): ConfigError {
  return new ConfigError(
    `KEYHOOK_BRAND is ${brand}, but this database was made as ${kept}, and keeps its brand. Set KEYHOOK_BRAND to ${kept}`,
  )
}

/**
 * Refuses a brand that differs from that of the first start: keys and receivers use it.
 *
 * @throws ConfigError
 */
export async function keepBrand(store: PlatformStore, brand: string): Promise<void> {
  const kept =
    (await store.accounts.meta('brand')) ??
    (await store.write((tx) => tx.accounts.putMetaOnce('brand', brand)))
  if (kept !== brand) throw otherBrand(brand, kept)
}
