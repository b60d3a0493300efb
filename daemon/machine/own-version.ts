import { createRequire } from 'node:module'
import { isExecutable, readAsset } from '../../plugins/executable.ts'

/** The version of this package. */
export function ownVersion(): string {
  const manifest: unknown = isExecutable
    ? JSON.parse(readAsset('package.json').toString())
    : createRequire(import.meta.url)('keyhook/package.json')
  return (manifest as { readonly version: string }).version
}
