import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { assetNames, isExecutable, readAsset } from '../../plugins/executable.ts'

/** Encodings in which files are shipped, the smaller one first, by the end of a file's name. */
export const SHIPPED = { br: '.br', gzip: '.gz' } as const

export type Shipped = keyof typeof SHIPPED

/** A built file in its shipped encodings. */
export interface BuiltFile extends Readonly<Record<Shipped, Buffer>> {
  /** The file as it was before it was compressed: decompressed once, however many ask for it. */
  plain(): Promise<Buffer>
}

export function builtFile({ br, gzip }: Readonly<Record<Shipped, Buffer>>): BuiltFile {
  let plain: Promise<Buffer> | undefined
  return { br, gzip, plain: () => (plain ??= decompress(gzip)) }
}

/** What Vite built. */
export interface BuiltStudio {
  /** The page of Studio, with places for the facts of a daemon. */
  readonly page: string
  /** The page of the portal, with the same places. */
  readonly portal: string
  /** Hashed files by name. */
  readonly assets: ReadonlyMap<string, BuiltFile>
}

const FOLDER = fileURLToPath(new URL('../../studio/', import.meta.url))
/** Where the files are in the executable. */
const IN_EXECUTABLE = 'studio/'

/** Reads the built application; undefined when this installation was built without it. */
export async function readStudio(folder: string = FOLDER): Promise<BuiltStudio | undefined> {
  const files = isExecutable ? readAssets() : await readFolder(folder)
  const [page, portal] = ['index.html', 'portal.html'].map((name) => files.get(name))
  if (page === undefined || portal === undefined) return undefined
  return {
    page: page.toString('utf8'),
    portal: portal.toString('utf8'),
    assets: assetsOf(files),
  }
}

function assetsOf(files: ReadonlyMap<string, Buffer>): ReadonlyMap<string, BuiltFile> {
  const assets = new Map<string, BuiltFile>()
  for (const [path, br] of files) {
    const [, name] = /^assets\/([^/]+)\.br$/.exec(path) ?? []
    const gzip = files.get(path.replace(/br$/, 'gz'))
    if (name !== undefined && gzip !== undefined) assets.set(name, builtFile({ br, gzip }))
  }
  return assets
}

async function readFolder(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const names = await readdir(folder, { recursive: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const files = names.filter((name) => /\.(html|br|gz)$/.test(name))
  return new Map(
    await Promise.all(
      files.map(
        async (name) => [name.replaceAll('\\', '/'), await readFile(folder + name)] as const,
      ),
    ),
  )
}

function readAssets(): ReadonlyMap<string, Buffer> {
  const names = assetNames(IN_EXECUTABLE)
  return new Map(names.map((name) => [name.slice(IN_EXECUTABLE.length), readAsset(name)]))
}

const decompress = promisify(gunzip)

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
