import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Engine } from '../../lib/engine/engine.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { Billing, Processing } from '../billing/billing.ts'
import { createBilling, createNoBilling } from '../billing/billing.ts'
import type { Prices } from '../billing/prices.ts'
import { DEFAULT_PRICES, OWN_OPERATIONS, keepPrices, readPrices } from '../billing/prices.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'
import type { Family } from '../operations/family.ts'
import type { Machine } from '../platform.ts'
import { keepIdentity } from './identity.ts'

/**
 * Reads the prices that the operator configured.
 *
 * @param families those that are served: their operations need a price
 * @throws ConfigError
 */
export async function loadPrices(
  { prices: file }: Pick<Config, 'prices'>,
  families: readonly Pick<Family, 'name'>[],
): Promise<Prices> {
  if (file === undefined) return DEFAULT_PRICES
  try {
    const needed = OWN_OPERATIONS.filter((own) =>
      families.some(({ name }) => own.startsWith(`${name}.`)),
    )
    return readPrices(await readFile(resolve(file), 'utf8'), needed)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`KEYHOOK_PRICES is ${file}, which cannot be used: ${reason}`, { cause })
  }
}

interface Ports extends Pick<Machine, 'clock' | 'newId'> {
  readonly store: PlatformStore
  readonly engine: Engine
  readonly prices: Prices
  /** The payment processor of the settings, or one that replaces it. */
  readonly processing?: Processing | undefined
}

/**
 * Opens the billing that the operator configured.
 *
 * @throws ConfigError for another currency or account of the processor than before, and for a price version that was changed
 */
export async function openBilling(
  { billing: mode, currency }: Pick<Config, 'billing' | 'currency'>,
  { store, engine, clock, newId, prices, processing }: Ports,
): Promise<Billing> {
  if (mode === 'none') return createNoBilling(prices)
  await keepCurrency(store, currency)
  if (processing !== undefined) await keepIdentity(store, processing, clock)
  const changed = await store.write((tx) => keepPrices(tx, prices, clock.now()))
  if (changed !== undefined) {
    throw new ConfigError(
      `KEYHOOK_PRICES changes version ${changed}, which was in use. Give it a new version`,
    )
  }
  return createBilling({
    mode: processing?.name ?? mode,
    processing,
    currency,
    prices,
    engine,
    clock,
    newId,
  })
}

/** All amounts of a ledger are in the currency of its first start. */
async function keepCurrency(store: PlatformStore, currency: string): Promise<void> {
  const kept =
    (await store.accounts.meta('currency')) ??
    (await store.write((tx) => tx.accounts.putMetaOnce('currency', currency)))
  if (kept === currency) return
  throw new ConfigError(
    `KEYHOOK_CURRENCY is ${currency}, but the amounts of this database are in ${kept}. Set KEYHOOK_CURRENCY to ${kept}`,
  )
}
