import { createRequire } from 'node:module'
import type { Family } from './family.ts'
import type { Catalogue } from '../platform.ts'

/** The names that the families declare. */
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

/** The version of this package. */
export function ownVersion(): string {
  const load = createRequire(import.meta.url)
  return (load('keyhook/package.json') as { readonly version: string }).version
}
