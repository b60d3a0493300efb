/**
 * A step of the build: what a daemon loads, in a process of its own or embedded, becomes a few files. To find and read
 * 550 one by one was a quarter of the CPU of a start.
 *
 * What else the package exports stays as it is, so that there is one copy of what plugins import.
 * `node --conditions=unbundled` runs all of it module by module, as it was compiled.
 */
import { readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { build, rolldown } from 'rolldown'

/** A module of the manifest in two forms. */
interface Entry {
  /** As it was compiled. */
  readonly unbundled: string
  /** In the bundle. */
  readonly default: string
}

interface Manifest {
  readonly imports: Readonly<Record<string, Entry>>
  readonly exports: Readonly<Record<string, Entry | string>>
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FOLDER = './dist/daemon/bundle'
const { exports, imports } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
) as Manifest
const targets = [...Object.values(imports), ...Object.values(exports)]
const entries = targets.filter((one) => typeof one !== 'string')
const misplaced = entries.find((one) => dirname(one.default) !== FOLDER)
if (misplaced !== undefined) throw new Error(`${misplaced.default} is not in ${FOLDER}`)

/** What the package exports beside the daemon: a plugin may import it in any process. */
const EXPORTED = targets
  .filter((one) => typeof one === 'string')
  .filter((file) => file.endsWith('.js'))

/** What every `keyhook serve` has loaded before the daemon. */
const LOADED_BEFORE = [
  './dist/daemon/main.js',
  './dist/daemon/cli/serve.js',
  './dist/daemon/telemetry/log.js',
]

/** A bundle already. */
const SDK = './dist/daemon/mcp/sdk.js'

const isPackage = (id: string): boolean => /^(?!\.{0,2}\/|\0|@oxc-project\/)/.test(id)

/** What commands import on demand is theirs: few of them run in a process that serves. */
const WITHOUT_DYNAMIC: Plugin = {
  name: 'without-dynamic',
  resolveDynamicImport: () => ({ id: 'on-demand', external: true }),
}

/** Paths of these modules and of all that they import. */
async function closureOf(
  files: readonly string[],
  plugins: readonly Plugin[] = [],
): Promise<readonly string[]> {
  const found: string[] = []
  const collect: Plugin = { name: 'collect', moduleParsed: ({ id }) => void found.push(id) }
  const graph = await rolldown({
    input: files.map((file) => join(ROOT, file)),
    platform: 'node',
    external: isPackage,
    plugins: [...plugins, collect],
  })
  await graph.generate()
  await graph.close()
  return found
}

const unbundled = new Set([
  ...(await closureOf([...EXPORTED, SDK])),
  ...(await closureOf(LOADED_BEFORE, [WITHOUT_DYNAMIC])),
])
const folder = join(ROOT, FOLDER)

/** A module finds the files beside it from where it was compiled. */
const keepModuleUrls: Plugin = {
  name: 'keep-module-urls',
  transform(code, id) {
    const url = `new URL(${JSON.stringify(relative(folder, id))}, import.meta.url).href`
    return code.includes('import.meta.url') ? code.replaceAll('import.meta.url', url) : undefined
  },
}

rmSync(folder, { recursive: true, force: true })
await build({
  input: Object.fromEntries(
    entries.map((one) => [basename(one.default, '.js'), join(ROOT, one.unbundled)]),
  ),
  platform: 'node',
  external: (id) => isPackage(id) || unbundled.has(id),
  plugins: [keepModuleUrls],
  output: {
    // The folder that the entries have in common: what is not bundled is imported relative to it.
    dir: dirname(folder),
    entryFileNames: `${basename(folder)}/[name].js`,
    chunkFileNames: `${basename(folder)}/[name]-[hash].js`,
  },
  logLevel: 'warn',
})
