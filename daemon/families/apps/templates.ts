import { readFile, readdir } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { assetNames, isExecutable, readAsset } from '../../../plugins/executable.ts'

/** A built-in template. */
export interface Template {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Path of the page that opens first. */
  readonly entry: string
  /** In order of path, without the manifest. */
  readonly files: readonly TemplateFile[]
}

export interface TemplateFile {
  /** Relative to the app's root, with `/` on every platform. */
  readonly path: string
  readonly bytes: Uint8Array
}

const FOLDER = fileURLToPath(new URL('./templates/', import.meta.url))
/** Where they are in the executable. */
const ASSETS = 'templates/'
const MANIFEST = 'template.json'

const Manifest = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  entry: z.string(),
})

let kept: Promise<readonly Template[]> | undefined

/** The built-in templates in order of id, read once per process; the next call repeats a failed read. */
export function readTemplates(): Promise<readonly Template[]> {
  kept ??= readAll().catch((error: unknown) => {
    kept = undefined
    throw error
  })
  return kept
}

async function readAll(): Promise<readonly Template[]> {
  const files = isExecutable ? readAssets(ASSETS) : await readTree(FOLDER)
  return files
    .filter(({ path }) => path.endsWith(`/${MANIFEST}`) && path.split('/').length === 2)
    .map((manifest) => templateOf(manifest, files))
    .toSorted(by(({ id }) => id))
}

function templateOf(manifest: TemplateFile, all: readonly TemplateFile[]): Template {
  const folder = manifest.path.slice(0, -MANIFEST.length)
  const files = all
    .filter((file) => file.path.startsWith(folder) && file !== manifest)
    .map(({ path, bytes }) => ({ path: path.slice(folder.length), bytes }))
    .toSorted(by(({ path }) => path))
  return { ...Manifest.parse(JSON.parse(Buffer.from(manifest.bytes).toString('utf8'))), files }
}

async function readTree(folder: string): Promise<readonly TemplateFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}${sep}${entry.name}`)
  return Promise.all(
    paths.map(async (path) => ({
      path: relative(folder, path).split(sep).join('/'),
      bytes: new Uint8Array(await readFile(path)),
    })),
  )
}

function readAssets(folder: string): readonly TemplateFile[] {
  return assetNames(folder).map((name) => ({
    path: name.slice(folder.length),
    bytes: new Uint8Array(readAsset(name)),
  }))
}

function by<T>(key: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (key(a) < key(b) ? -1 : Number(key(a) > key(b)))
}
