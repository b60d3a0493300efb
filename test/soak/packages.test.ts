/**
 * What `npm i keyhook` installs: the packages that the tarball declares, as the lock resolves them, and what those
 * need. No registry is asked.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { cp, readlink, symlink, unlink, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { packKeyhook } from '../support/packed.ts'

interface Manifest {
  readonly version?: string
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly hasInstallScript?: boolean
  readonly exports?: Readonly<Record<string, string | { readonly types: string }>>
}

const read = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8')
const lock = (JSON.parse(read(ROOT, 'package-lock.json')) as { packages: Record<string, Manifest> })
  .packages
const packed = await packKeyhook()
t.teardown(() => packed.remove())
const folder = join(await packed.install([]), 'node_modules/keyhook')
const manifest = JSON.parse(read(folder, 'package.json')) as Manifest

/** Names of the packages that npm installs with one: those that are required, and not only by agreement. */
function neededBy(one: Manifest): readonly string[] {
  const isOptional = (name: string) => one.peerDependenciesMeta?.[name]?.optional === true
  const peers = Object.keys(one.peerDependencies ?? {}).filter((name) => !isOptional(name))
  return [one.dependencies, one.optionalDependencies]
    .flatMap((all) => Object.keys(all ?? {}))
    .concat(peers)
}

/** The place of a package in the lock, as Node looks for it from another place. */
function locate(name: string, from: string): string {
  const inside = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (inside in lock) return inside
  if (from === '') throw new Error(`${name} is not in the lock`)
  return locate(name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))))
}

const installed = new Map<string, Manifest>()
const waiting = neededBy(manifest).map((name) => locate(name, ''))
for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
  const one = lock[place]
  if (one === undefined || installed.has(place)) continue
  installed.set(place, one)
  for (const name of neededBy(one)) waiting.push(locate(name, place))
}
const nameOf = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 13)

/** Bytes of the files of a package, without packages inside it. */
function sizeOf(path: string): number {
  return readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    const inside = join(path, entry.name)
    if (entry.isDirectory()) return sum + (entry.name === 'node_modules' ? 0 : sizeOf(inside))
    return sum + (entry.isFile() ? statSync(inside).size : 0)
  }, 0)
}

/** With Keyhook itself. */
const count =
  new Set([...installed].map(([place, { version }]) => `${nameOf(place)}@${version}`)).size + 1

await t.test('at most 100 packages and 30 MB are installed, and nothing is compiled', async (t) => {
  const sizes = [...installed.keys()].map((place) => sizeOf(join(ROOT, place)))
  const megabytes = sizes.reduce((sum, size) => sum + size, sizeOf(folder)) / 1e6
  t.comment(`${count} packages, ${megabytes.toFixed(1)} MB`)
  t.ok(count > 20 && count <= 100, `${count} packages`)
  t.ok(megabytes > 5 && megabytes <= 30, `${megabytes} MB`)
  t.same(
    [...installed].filter(([, one]) => one.hasInstallScript === true).map(([place]) => place),
    [],
  )
})

await t.test('docs/packages.md names each package', async (t) => {
  const page = read(ROOT, 'docs/packages.md')
  t.ok(page.includes(` ${count} packages, 30 MB`), `${count} packages`)
  const table = page.slice(page.indexOf('## What it brings'))
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) => {
    const [, first = '', reason = '', rest = ''] = row.split('|')
    t.ok(reason.trim().length > 10, `${first} has a reason`)
    return [...`${first}${rest}`.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  })
  t.same(named.sort(), [...new Set([...installed.keys()].map(nameOf))].sort(), 'each once')
})

type Version = readonly [major: number, minor: number]

/** Whether a range of versions has one in it. @throws Error for a range of another form */
function isIn(range: string, version: Version): boolean {
  return range.split('||').some((part) => {
    const one = /^(>=|\^)?\s*v?(\d+|\*)(?:\.(\d+|x))?(?:\.(\d+|x))?$/.exec(part.trim())
    if (one === null) throw new Error(`the range ${range} cannot be read`)
    const [, operator, major = '', minor = '0'] = one
    const isLater =
      version[0] > Number(major) || (version[0] === Number(major) && version[1] >= Number(minor))
    if (major === '*') return true
    if (operator === '>=') return isLater
    return version[0] === Number(major) && (operator === undefined || isLater)
  })
}

const NODES: readonly Version[] = [
  [20, 19],
  [22, 12],
  [24, 0],
  [26, 0],
]

await t.test('no package warns of Node 20, 22, 24 or 26', async (t) => {
  for (const [place, { engines }] of [...installed, ['keyhook', manifest] as const]) {
    const range = engines?.node
    if (range === undefined) continue
    for (const version of NODES) t.ok(isIn(range, version), `${place}: ${range}, ${version[0]}`)
  }
  t.notOk(isIn('>=22', [20, 19]) || isIn('^20.20.0 || >=22.9', [20, 19]))
})

await t.test('declarations that an export reaches are in the package', async (t) => {
  const seen = new Set<string>()
  const queue = Object.values(manifest.exports ?? {})
    .map((target) => (typeof target === 'string' ? target.replace(/\.js$/, '.d.ts') : target.types))
    .filter((path) => path.endsWith('.d.ts'))
    .map((path) => join(folder, path))
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const text = statSync(path, { throwIfNoEntry: false }) && read(path)
    if (text === undefined) t.fail(`${path.slice(folder.length)} is not there`)
    for (const [, target = ''] of (text ?? '').matchAll(
      /(?:from|import\()\s*['"](\.[^'"]+)['"]/g,
    )) {
      queue.push(join(path, '..', target.replace(/\.[jt]s$/, '.d.ts')))
    }
  }
  t.ok(seen.size > 200, `${seen.size} declarations`)
})

const exec = promisify(execFile)

/** Runs a command of the package, and answers what it printed where it failed. */
async function refusal(
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const bin = join(home, 'node_modules/keyhook/dist/daemon/main.js')
  const given = { KEYHOOK_PORT: '0', KEYHOOK_APPS: 'off', ...env }
  const run = exec(process.execPath, [bin, ...args], { cwd: home, env: given, timeout: 20_000 })
  const failed = await run.then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    (cause: unknown) => cause as { code: number; stdout: string; stderr: string },
  )
  return { code: failed.code, text: failed.stdout + failed.stderr }
}

const POSTGRES = 'postgres://127.0.0.1:9/absent'

/** Node has SQLite built in since 22.13. */
const HAS_SQLITE = isBuiltin('node:sqlite')

/** Settings with which the daemon needs a package. */
const NEEDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...(HAS_SQLITE ? {} : { sqlite3: {} }),
  sequelize: {},
  pg: { KEYHOOK_DATABASE_URL: POSTGRES },
  openai: { KEYHOOK_LLM_BASE_URL: 'http://127.0.0.1:9/v1', KEYHOOK_LLM_MODEL: 'm' },
  amqplib: { KEYHOOK_DESTINATIONS: 'orders=amqp://127.0.0.1:9' },
  '@redis/client': { KEYHOOK_DESTINATIONS: 'orders=redis://127.0.0.1:9' },
  stripe: {
    KEYHOOK_BILLING: 'stripe',
    KEYHOOK_STRIPE_API_KEY: 'sk_test_absent',
    KEYHOOK_STRIPE_WEBHOOK_SECRET: 'whsec_absent',
    KEYHOOK_STRIPE_PRICE_PRO: 'price_absent',
  },
}

await t.test(
  'a package that is missing is one line at the start, and nothing is written',
  async (t) => {
    const home = await packed.install([])
    for (const [name, env] of Object.entries(NEEDS)) {
      const link = join(home, 'node_modules', name)
      const target = await readlink(link)
      await unlink(link)
      const expected = `these settings need a package that is not installed: npm i ${name}`
      t.same(await refusal(home, ['serve'], env), { code: 1, text: `keyhook: ${expected}\n` }, name)
      const doctor = await refusal(home, ['doctor'], env)
      t.ok(doctor.text.includes(`FAILED  packages       ${expected}`), doctor.text)
      await symlink(target, link)
    }
    t.notOk(existsSync(join(home, 'keyhook-data')))
  },
)

await t.test('sqlite3 without its native part is one line at the start', async (t) => {
  const home = await packed.install(['bindings', 'file-uri-to-path'])
  const place = join(home, 'node_modules/sqlite3')
  const source = await readlink(place)
  await unlink(place)
  const copied = ['lib', 'package.json'].map((name) =>
    cp(join(source, name), join(place, name), { recursive: true }),
  )
  await Promise.all(copied)
  const remedy =
    'A SQLite database needs the native part of the package sqlite3, which is not built. Run npm rebuild ' +
    'sqlite3 (python3, make and g++ build it), or use Node 22.13 or later, which has SQLite built in'
  if (HAS_SQLITE) {
    const env = { KEYHOOK_DATA_DIR: join(home, 'data') }
    const daemon = await startDaemonProcess(env, join(home, 'node_modules/keyhook'))
    t.equal((await fetch(`${daemon.url}/readyz`)).status, 200, "Node's own is used")
    await daemon.end('SIGKILL')
  } else {
    t.same(await refusal(home, ['serve'], {}), { code: 1, text: `keyhook: ${remedy}\n` })
    t.notOk(existsSync(join(home, 'keyhook-data')))
  }
})

const EMBEDDED = `
  import { createKeyhook } from 'keyhook/daemon'
  import { createBuiltInReader } from 'keyhook/plugins/files/readers'
  import { openStore } from 'keyhook/plugins/store/sqlite'
  const masterKey = 'k1:' + Buffer.alloc(32, 1).toString('base64')
  for (const database of ['shop.sqlite', '${POSTGRES}']) {
    for (const open of [() => createKeyhook({ database, masterKey }), () => openStore(database)]) {
      await open().then(() => console.log('opened'), ({ message }) => console.log(message))
    }
  }
  const reader = createBuiltInReader()
  console.log(reader.reads.map(({ label }) => label).join())
  console.log(reader.sniff('a.pdf', Buffer.from('%PDF-1.7')), reader.sniff('a.txt', Buffer.from('a')))
`

await t.test('without any optional package every export can be imported', async (t) => {
  const home = await packed.install([], false)
  const entries = Object.keys(manifest.exports ?? {}).filter((entry) => !entry.endsWith('.json'))
  const imports = entries.map((entry) => `await import('keyhook${entry.slice(1)}')`)
  await writeFile(join(home, 'imports.mjs'), imports.join('\n'))
  await exec(process.execPath, ['imports.mjs'], { cwd: home })
  await writeFile(join(home, 'embedded.mjs'), EMBEDDED)
  const { stdout } = await exec(process.execPath, ['embedded.mjs'], { cwd: home })
  t.same(stdout.trim().split('\n'), [
    ...(HAS_SQLITE
      ? ['these settings need a package that is not installed: npm i sequelize', 'opened']
      : [
          'these settings need packages that are not installed: npm i sqlite3 sequelize',
          'A SQLite database needs a package that is not installed: npm i sqlite3',
        ]),
    'these settings need packages that are not installed: npm i pg sequelize',
    'A PostgreSQL database needs a package that is not installed: npm i pg',
    'html,markdown,json,text',
    'undefined text/plain',
  ])
  t.equal(existsSync(join(home, 'shop.sqlite')), HAS_SQLITE)
})

await t.test('the daemon starts again after kill -9 where its packages are links', async (t) => {
  const env = { KEYHOOK_DATA_DIR: t.testdir() }
  for (let start = 1; start <= 3; start++) {
    const daemon = await startDaemonProcess(env, folder)
    t.equal((await fetch(`${daemon.url}/readyz`)).status, 200, `start ${start}`)
    await daemon.end('SIGKILL')
  }
})
