/**
 * The single executable, `npm run build:binary`: Node with the product in it. Files of the package are assets there,
 * and modules are in one file.
 *
 * @module
 */
import vm from 'node:vm'

interface Sea {
  isSea(): boolean
  getAsset(name: string): ArrayBuffer
  /** Absent before Node 24. */
  getAssetKeys(): readonly string[]
}

const sea = process.getBuiltinModule?.('node:sea') as unknown as Sea | undefined

/** Whether this process runs the single executable. */
export const isExecutable = sea?.isSea() === true

/** The first argument with which the executable is the child that reads one document. */
export const READ_DOCUMENT = 'read-document'

/** The program of a thread with a connection of SQLite. */
export const SQLITE_THREAD = 'sqlite-thread.js'

/** @throws Error when the executable has no asset of that name */
export function readAsset(name: string): Buffer {
  if (sea === undefined) throw new Error(`${name} is an asset of the executable`)
  return Buffer.from(sea.getAsset(name))
}

/** Names of assets that begin so. */
export function assetNames(prefix: string): readonly string[] {
  return sea?.getAssetKeys().filter((name) => name.startsWith(prefix)) ?? []
}

/** Imports a file: `import` within the executable finds modules of Node alone. */
export async function importFile(url: string): Promise<Readonly<Record<string, unknown>>> {
  if (!isExecutable) return (await import(url)) as Readonly<Record<string, unknown>>
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  const load = vm.runInThisContext('(url) => import(url)', { importModuleDynamically }) as (
    url: string,
  ) => Promise<Readonly<Record<string, unknown>>>
  return load(url)
}
