import type { Platform } from '../platform.ts'
import { ConfigError } from '../config/config.ts'
import { taskEvents } from '../jobs/tasks.ts'
import type { Family } from '../operations/family.ts'
import { SERVICE_ACCOUNT } from '../authority/principal.ts'

/**
 * Refuses configured event types that the service itself publishes.
 *
 * @throws ConfigError
 */
export function requireOwnTypes(types: readonly string[], families: readonly Family[]): void {
  const published = [...families.flatMap(({ events }) => events), ...taskEvents.types]
  const own = new Set(published.map(({ type }) => type))
  const type = types.find((one) => own.has(one))
  if (type === undefined) return
  throw new ConfigError(`KEYHOOK_EVENT_TYPES names ${type}, which the service itself publishes`)
}

/**
 * Refuses configured scopes that a family declares.
 *
 * @throws ConfigError
 */
export function requireOwnScopes(scopes: Family['scopes'], families: readonly Family[]): void {
  const declared = new Set(families.flatMap((family) => Object.keys(family.scopes)))
  const scope = Object.keys(scopes).find((one) => declared.has(one))
  if (scope === undefined) return
  throw new ConfigError(`KEYHOOK_SCOPES names ${scope}, which the service itself declares`)
}

/** Declares the configured event types; what the API set for them is kept. */
export async function declareEventTypes(
  { store, clock }: Pick<Platform, 'store' | 'clock'>,
  types: readonly string[],
): Promise<void> {
  const known = new Set(await store.events.typeNames(SERVICE_ACCOUNT))
  const missing = types.filter((type) => !known.has(type))
  if (missing.length === 0) return
  const now = clock.now()
  const declared = {
    description: null,
    schema: null,
    sample: null,
    created_at: now,
    updated_at: now,
  }
  await store.write(async (tx) => {
    for (const type of missing) {
      await tx.events.putType({ ...declared, account_id: SERVICE_ACCOUNT, type })
    }
  })
}

/**
 * Refuses families whose required families are missing.
 *
 * @throws TypeError
 */
export function requireNeeded(families: readonly Family[]): void {
  for (const { name, needs = [] } of families) {
    const missing = needs.find((needed) => !families.includes(needed))
    if (missing === undefined) continue
    throw new TypeError(`the family ${name} needs ${missing.name}, which is not served`)
  }
}
