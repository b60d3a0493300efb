/**
 * A step of the build: what a daemon loads, in a process of its own or embedded, becomes a few files. To find and read
 * 550 one by one was a quarter of the CPU of a start.
 *
 * What else the package exports stays as it is, so that there is one copy of what plugins import.
 * `node --conditions=modules` runs all of it module by module, as it was compiled.
 */
import { readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { build, rolldown } from 'rolldown'

/** A module of the manifest in two forms. */
interface Entry {
  /** As it was compiled. */
  readonly modules: string
  /** In the bundle. */
  readonly default: string
}

interface Manifest {
  readonly imports: Readonly<Record<string, Entry>>
  readonly exports: Readonly<Record<string, Entry | string>>
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const { exports, imports } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as Manifest
const named = [...Object.values(imports), ...Object.values(exports)]
const entries = named.filter((one) => typeof one !== 'string')

/** What is loaded before the daemon is, and what the package exports beside it. */
const APART = [
  './dist/daemon/main.js',
  './dist/daemon/cli/serve.js',
  // A bundle already.
  './dist/daemon/mcp/sdk.js',
  ...named.filter((one) => typeof one === 'string').filter((file) => file.endsWith('.js')),
]

const isPackage = (id: string): boolean => /^(?!\.{0,2}\/|\0|@oxc-project\/)/.test(id)

/** Paths of modules that these import, and of those that they import, themselves included. */
async function importedBy(files: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const collect: Plugin = {
    name: 'collect',
    moduleParsed: ({ id }) => void found.add(id),
    // Not what is imported on demand.
    resolveDynamicImport: () => ({ id: 'later', external: true }),
  }
  const graph = await rolldown({
    input: files.map((file) => join(ROOT, file)),
    platform: 'node',
    external: isPackage,
    plugins: [collect],
  })
  await graph.generate()
  await graph.close()
  return found
}

const apart = await importedBy(APART)
const folder = join(ROOT, dirname(entries[0]?.default ?? ''))

/** A module finds the files beside it from where it was compiled. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  transform(code, id) {
    const place = `new URL(${JSON.stringify(relative(folder, id))}, import.meta.url).href`
    return code.includes('import.meta.url') ? code.replaceAll('import.meta.url', place) : undefined
  },
}

rmSync(folder, { recursive: true, force: true })
await build({
  input: Object.fromEntries(
    entries.map((one) => [basename(one.default, '.js'), join(ROOT, one.modules)]),
  ),
  platform: 'node',
  external: (id) => isPackage(id) || apart.has(id),
  plugins: [keepPlaces],
  output: {
    // The folder that the entries have in common: what is left apart is imported relative to it.
    dir: dirname(folder),
    entryFileNames: `${basename(folder)}/[name].js`,
    chunkFileNames: `${basename(folder)}/[name]-[hash].js`,
  },
  logLevel: 'warn',
})
