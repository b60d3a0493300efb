import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sqlite3 from 'sqlite3'
import type { Test } from 'tap'
import t from 'tap'
import { ROUTES, createClient } from '../../daemon/client/index.ts'
import { createKeyhook } from '../../daemon/embed/index.ts'
import { ROOT } from '../arch/source.ts'
import { WITHOUT_ARGUMENTS, daemonExports, keyhookMethods } from '../support/exports/daemon.ts'
import { FAMILIES } from '../support/exports/families.ts'
import { KERNEL } from '../support/exports/kernel.ts'
import type { Declared, WrongCall } from '../support/exports/mutate.ts'
import { typeOf, wrongCalls } from '../support/exports/mutate.ts'
import { PLUGINS } from '../support/exports/plugins.ts'

type Call = (...args: readonly unknown[]) => unknown

/** What the engine throws where nobody checked. */
const ACCIDENTAL = /^Cannot |is not a function|is not iterable|is not a constructor|undefined \(/

/** Fetches and connections that wrong calls began. */
const began: string[] = []

const connect = Reflect.get(Socket.prototype, 'connect')
Socket.prototype.connect = function counted(this: Socket, ...args: never[]) {
  began.push('connection')
  return Reflect.apply(connect, this, args) as Socket
}
const fetch = globalThis.fetch
const countedFetch = (): never => {
  began.push('fetch')
  throw new Error('nothing may be sent')
}
globalThis.fetch = countedFetch

const home = process.cwd()
const folder = await mkdtemp(join(tmpdir(), 'keyhook-exports-'))
process.chdir(folder)
const keyhook = await createKeyhook({
  database: join(folder, 'keyhook.sqlite'),
  masterKey: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  scopes: { orders: ['read', 'write'] },
  eventTypes: ['order.paid'],
  logLevel: 'silent',
  dispatch: false,
})
const owner = keyhook.as('acct_1')
const { key } = await owner.keys.create({ name: 'k', scopes: ['orders:read'], apps: ['app_1'] })
await owner.webhooks.create({ url: 'https://example.com/in', events: ['order.paid'] })
t.teardown(async () => {
  globalThis.fetch = fetch
  Reflect.set(Socket.prototype, 'connect', connect)
  process.chdir(home)
  await keyhook.stop()
  await rm(folder, { recursive: true })
})

const before = await standing()
let n = 0

await t.test('no export ignores an argument that it does not know', async (t) => {
  const found = await exportedFunctions()
  const declared: Readonly<Record<string, Declared>> = {
    ...Object.fromEntries(
      Object.entries(KERNEL).map(([name, one]) => [
        `${name === 'verifyWebhook' || name === 'WebhookVerificationError' ? './verify' : '.'}#${name}`,
        one,
      ]),
    ),
    ...PLUGINS,
    ...FAMILIES,
    ...daemonExports(keyhook, countedFetch),
  }
  t.same(
    Object.keys(declared).sort(),
    [...found.keys()].sort(),
    'each export has a right call in test/support/exports, and each of those an export',
  )
  for (const [name, one] of Object.entries(declared)) {
    await t.test(name, (t) => refusesAll(t, callOf(found.get(name), one), one))
  }
})

await t.test('no method of a Keyhook ignores an argument that it does not know', async (t) => {
  const found = methodsOf(keyhook)
  const declared = keyhookMethods(key ?? '')
  t.same(
    [...Object.keys(declared), ...WITHOUT_ARGUMENTS].sort(),
    [...found.keys()].sort(),
    'each method has a right call in test/support/exports/daemon.ts',
  )
  for (const [name, ones] of Object.entries(declared)) {
    for (const one of ones) await t.test(name, (t) => refusesAll(t, found.get(name), one))
  }
})

await t.test('no method of a client sends what it does not know', async (t) => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', key: 'k', fetch: countedFetch })
  const found = methodsOf(client)
  t.ok(found.size >= ROUTES.length)
  for (const [name, call] of found) {
    const wrong: WrongCall[] = ['unexpected', 5, true, null, [], () => undefined, new Map()].map(
      (given) => ({ what: typeOf(given), args: [given] }),
    )
    const options = [
      5,
      null,
      'key',
      { idempotencyKeys: 'k' },
      { signal: 5 },
      { idempotencyKey: '' },
    ]
    wrong.push(...options.map((given) => ({ what: 'options', args: [{}, given] })))
    wrong.push({ what: 'one argument too many', args: [{}, {}, {}] })
    await refuses(t, name, call, wrong, [])
  }
})

await t.test('nothing was granted, written or sent', async (t) => {
  t.same(began, [])
  t.same(await standing(), before)
  t.comment(`${n} wrong calls`)
  t.ok(n > 1500, `n = ${n}`)
})

async function refusesAll(t: Test, call: Call | undefined, declared: Declared): Promise<void> {
  if (call === undefined) return void t.fail('is not there')
  await refuses(t, call.name, call, wrongCalls(declared), declared.codes ?? [])
}

/** A TypeError that is ours, or a documented error: never one that the engine threw on its way. */
async function refuses(
  t: Test,
  name: string,
  call: Call,
  wrong: readonly WrongCall[],
  codes: readonly string[],
): Promise<void> {
  const odd: string[] = []
  for (const { what, args } of wrong) {
    n++
    const outcome = await outcomeOf(call, args)
    if (outcome instanceof TypeError && !ACCIDENTAL.test(outcome.message)) continue
    if (outcome instanceof Error && codes.includes(codeOf(outcome))) continue
    odd.push(`${name}, ${what}: ${outcome instanceof Error ? String(outcome) : 'accepted'}`)
  }
  t.same(odd, [])
}

async function outcomeOf(call: Call, args: readonly unknown[]): Promise<unknown> {
  try {
    const answer: unknown = call(...args)
    return isWalk(answer) ? await answer.next() : await answer
  } catch (cause) {
    return cause
  }
}

/** What `list.all()` answers asks when its first entry is taken. */
function isWalk(value: unknown): value is AsyncGenerator {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

function callOf(found: unknown, { construct }: Declared): Call | undefined {
  if (construct !== true) return found as Call | undefined
  const type = found as new (...args: readonly unknown[]) => unknown
  return Object.defineProperty((...args: readonly unknown[]) => new type(...args), 'name', {
    value: type.name,
  })
}

/** Every function of every entry of the package, by entry and name; one in two entries by its last. */
async function exportedFunctions(): Promise<ReadonlyMap<string, unknown>> {
  const text = await readFile(join(ROOT, 'package.json'), 'utf8')
  const { exports } = JSON.parse(text) as {
    exports: Readonly<Record<string, string | { readonly unbundled: string }>>
  }
  const found = new Map<unknown, string>()
  for (const [entry, target] of Object.entries(exports)) {
    const built = typeof target === 'string' ? target : target.unbundled
    if (!built.endsWith('.js')) continue
    const source = built.replace('./dist/', '../../')
    const names = (await import(source)) as Readonly<Record<string, unknown>>
    for (const [name, value] of Object.entries(names)) {
      // What it takes from the kernel is the kernel's.
      const isKnown = entry === './families' && found.has(value)
      if (typeof value === 'function' && !isKnown) found.set(value, `${entry}#${name}`)
    }
  }
  return new Map([...found].map(([value, name]) => [name, value]))
}

/** The functions of an object and of the objects in it, but for what is the platform's own. */
function methodsOf(object: object): ReadonlyMap<string, Call> {
  const found = new Map<string, Call>()
  for (const [name, value] of Object.entries(object as Record<string, unknown>)) {
    if (typeof value === 'function') found.set(name, value as Call)
    if (typeof value === 'function' && 'all' in value) found.set(`${name}.all`, value.all as Call)
    if (name === 'platform' || typeof value !== 'object' || value === null) continue
    for (const [inner, call] of methodsOf(value)) found.set(`${name}.${inner}`, call)
  }
  return found
}

/** Rows by table and files by name. */
async function standing(): Promise<Readonly<Record<string, unknown>>> {
  const files = (await readdir(folder)).filter((name) => !/-(wal|shm|journal)$/.test(name))
  const tables = await query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
  const counts: [string, unknown][] = []
  for (const { name } of tables) {
    const [row] = await query(`SELECT count(*) AS rows FROM "${String(name)}"`)
    counts.push([String(name), row?.['rows']])
  }
  return { files, ...Object.fromEntries(counts) }
}

function query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return new Promise((resolve, reject) => {
    const database = new sqlite3.Database(join(folder, 'keyhook.sqlite'), sqlite3.OPEN_READONLY)
    database.all(sql, (cause, rows) => {
      database.close()
      if (cause === null) resolve(rows as Record<string, unknown>[])
      else reject(cause)
    })
  })
}
