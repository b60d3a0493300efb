import { createRequire } from 'node:module'

/** The version of this package. */
export function ownVersion(): string {
  const load = createRequire(import.meta.url)
  return (load('keyhook/package.json') as { readonly version: string }).version
}
