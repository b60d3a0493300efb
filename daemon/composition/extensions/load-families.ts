import type { Family } from '../../operations/family.ts'
import { ConfigError } from '../../config/config.ts'
import { requireAddable } from '../added-families.ts'
import { importModule, reasonOf } from './import-module.ts'
import type { NamedPlugin } from './named.ts'

/** A family that the operator named. */
export interface LoadedFamily {
  readonly label: string
  readonly family: Family
}

/**
 * Loads families of third parties, which runs their code: each module exports its own as `family`.
 *
 * @throws ConfigError of one line for one that cannot be loaded, or that cannot be added to those before it
 */
export async function loadFamilies(
  named: readonly NamedPlugin[],
): Promise<readonly LoadedFamily[]> {
  const loaded: LoadedFamily[] = []
  for (const { label, named: name } of named) {
    const { family } = (await importModule(label, name)) as { readonly family?: Family }
    if (typeof family !== 'object' || family === null) {
      throw new ConfigError(`${label}, which exports no family`)
    }
    try {
      await requireAddable(
        [family],
        loaded.map((one) => one.family),
      )
    } catch (cause) {
      throw new ConfigError(`${label}: ${reasonOf(cause)}`, { cause })
    }
    loaded.push({ label, family })
  }
  return loaded
}
