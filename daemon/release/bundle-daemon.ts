/**
 * A step of the build: the modules that a running daemon alone loads become a few files, a quarter less to start it.
 *
 * All others stay as they are, so that there is one copy of what plugins import. `node --conditions=modules` runs
 * the daemon module by module, as it was compiled.
 */
import { readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { build, rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const { exports, imports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>
  readonly imports: { readonly '#daemon': { readonly modules: string; readonly default: string } }
}
const { modules: entry, default: output } = imports['#daemon']

/** What is loaded before the daemon is, and what the package exports besides the daemon itself. */
const APART = [
  './dist/daemon/main.js',
  './dist/daemon/cli/serve.js',
  // A bundle already.
  './dist/daemon/mcp/sdk.js',
  ...Object.values(exports).filter(
    (file) => !/^\.\/dist\/daemon\/(?:embed|client)\/|\.json$/.test(file),
  ),
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
const folder = dirname(join(ROOT, output))

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
  input: join(ROOT, entry),
  platform: 'node',
  external: (id) => isPackage(id) || apart.has(id),
  plugins: [keepPlaces],
  output: {
    // Paths of what is left apart are relative to the folder of the entry.
    dir: dirname(join(ROOT, entry)),
    entryFileNames: `${basename(folder)}/[name].js`,
    chunkFileNames: `${basename(folder)}/[name]-[hash].js`,
  },
  logLevel: 'warn',
})
