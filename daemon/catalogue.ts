import type { Family } from './family.ts'
import type { Catalogue } from './platform.ts'
import { ownVersion } from './version.ts'

/** What the families offer, as data. */
export function catalogueOf(service: string, families: readonly Family[]): Catalogue {
  return {
    service,
    version: ownVersion(),
    families: families.map(({ name, operations }) => ({
      name,
      operations: operations.map(({ id, method, path, access }) => ({
        id,
        method,
        path,
        scope: typeof access === 'object' ? access.scope : null,
      })),
    })),
  }
}
