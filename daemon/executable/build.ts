/** `npm run build:binary`: makes `dist/keyhook` of what was compiled. */
import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { SQLITE_THREAD } from '../../plugins/executable.ts'
import { VECTORS_ASSET } from '../docs/vectors.ts'
import type { Arch, Toolchain } from './toolchain.ts'
import { TOOLS, installToolchain } from './toolchain.ts'

const exec = promisify(execFile)

const DIST = fileURLToPath(new URL('../../', import.meta.url))
const ROOT = join(DIST, '..')

/** Packages that others load only where they are installed, and that have native parts. */
const LEFT_OUT = ['pg-native', 'pg-hstore']
/** Modules of CommonJS within the bundle, which is none. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);"

/** Module by module: one bundle within another would hold half of them twice. */
const COMMON = [
  '--conditions=unbundled,module',
  '--bundle',
  '--platform=node',
  '--target=node26',
  '--log-level=warning',
]
const SMALL = ['--minify-syntax', '--minify-whitespace', '--legal-comments=none']

async function bundle({ esbuild }: Toolchain, work: string): Promise<Bundles> {
  const main = join(work, 'keyhook.mjs')
  const thread = join(work, SQLITE_THREAD)
  const external = LEFT_OUT.map((name) => `--external:${name}`)
  await exec(esbuild, [
    join(DIST, 'daemon/executable/main.js'),
    ...COMMON,
    ...SMALL,
    ...external,
    '--format=esm',
    `--banner:js=${REQUIRE}`,
    `--outfile=${main}`,
  ])
  const program = join(DIST, 'plugins/sqlite/thread-program.js')
  await exec(esbuild, [program, ...COMMON, ...SMALL, '--format=cjs', `--outfile=${thread}`])
  return { main, thread }
}

interface Bundles {
  readonly main: string
  readonly thread: string
}

/** Files that the executable reads, by name. */
async function assetsOf({ thread }: Bundles): Promise<Readonly<Record<string, string>>> {
  return {
    'package.json': join(ROOT, 'package.json'),
    [SQLITE_THREAD]: thread,
    [VECTORS_ASSET]: join(ROOT, 'test/vectors/signature.json'),
    ...(await filesBelow('templates/', join(DIST, 'daemon/families/apps/templates'))),
    ...(await filesBelow('studio/', join(DIST, 'studio'))),
  }
}

async function filesBelow(
  prefix: string,
  folder: string,
): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).toSorted()
  return Object.fromEntries(paths.map((path) => [prefix + relative(folder, path), path]))
}

/** Flags as `npm start` gives them. Others come in one argument, `--node-options`; the environment has none. */
const FLAGS = ['--max-old-space-size=512', '--disable-warning=ExperimentalWarning']

async function build(arch: Arch, output: string, isStripped: boolean): Promise<void> {
  const tools = await installToolchain(TOOLS, arch)
  const work = join(DIST, 'executable')
  await rm(work, { recursive: true, force: true })
  await mkdir(work, { recursive: true })
  const bundles = await bundle(tools, work)
  const settings = join(work, 'sea.json')
  const node = isStripped ? await strip(tools.node, join(work, 'node')) : tools.node
  await writeFile(
    settings,
    JSON.stringify({
      main: bundles.main,
      mainFormat: 'module',
      executable: node,
      output,
      disableExperimentalSEAWarning: true,
      // Made by running it, which a machine of another processor cannot.
      useCodeCache: arch === process.arch,
      execArgv: FLAGS,
      execArgvExtension: 'cli',
      assets: await assetsOf(bundles),
    }),
  )
  await exec(tools.builder, [`--build-sea=${settings}`])
  await rm(work, { recursive: true, force: true })
}

/** Without symbols, before anything is added: afterwards the program would not start. */
async function strip(node: string, to: string): Promise<string> {
  await exec('strip', ['-o', to, node])
  return to
}

const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: process.arch },
    output: { type: 'string', default: join(DIST, 'keyhook') },
    strip: { type: 'boolean', default: false },
  },
})
if (process.platform !== 'linux' || !['x64', 'arm64'].includes(values.arch)) {
  throw new Error('the executable is built on Linux, for x64 or arm64')
}
const begun = performance.now()
await build(values.arch as Arch, values.output, values.strip)
const { size } = await stat(values.output)
const seconds = ((performance.now() - begun) / 1000).toFixed(1)
const file = relative(process.cwd(), values.output)
process.stdout.write(`${file}: ${(size / 1e6).toFixed(1)} MB, ${seconds} s\n`)
