/** What a command loads decides how soon it answers: here is what it must not load. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { BUILT_IN } from '../../daemon/cli/built-in.ts'
import { SPEAKING_FAMILIES } from '../../daemon/cli/functions.ts'
import { importsIn, ROOT } from '../arch/source.ts'

const DIST = pathToFileURL(join(ROOT, 'dist/')).href
const RECORDER = fileURLToPath(new URL('../support/record-loads.js', import.meta.url))
const place = t.testdir({ home: {}, loads: '', running: {}, empty: {} })
const KEY = `service_dk_${'a'.repeat(49)}`

/** Answers every request as a daemon that has one key. */
async function serveAt(address: { readonly path?: string; readonly port?: number }) {
  const self = { id: 'k1', name: 'mine', scopes: ['*:*'] }
  const server = createServer((request, response) => {
    const body = request.url === '/v1/keys/self' ? self : { data: [], has_more: false }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }).listen({ host: '127.0.0.1', ...address })
  await once(server, 'listening')
  t.teardown(() => server.close())
  return server
}

const server = await serveAt({ port: 0 })
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const remote = { KEYHOOK_URL: url, KEYHOOK_KEY: KEY }
const running = join(place, 'running')
await serveAt({ path: join(running, 'control.sock') })

interface Loaded {
  readonly code: number
  readonly err: string
  /** Modules of Keyhook, such as `daemon/cli/program.js`, sorted. */
  readonly own: readonly string[]
  /** Packages, sorted. */
  readonly packages: readonly string[]
}

/** Runs a command line and answers what it loaded. */
async function run(
  line: string,
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Loaded> {
  const file = join(place, 'loads')
  writeFileSync(file, '')
  const main = ['--import', pathToFileURL(RECORDER).href, join(ROOT, 'dist/daemon/main.js')]
  const own = { HOME: join(place, 'home'), KEYHOOK_TEST_LOADS: file, ...env }
  const ended = await new Promise<{ code: number; err: string }>((resolve) => {
    const args = [...main, ...line.split(' ')]
    const child = execFile(process.execPath, args, { cwd: place, env: own }, (failed, _, err) => {
      resolve({ code: failed === null ? 0 : Number(failed.code), err })
    })
    child.stdin?.end(input)
  })
  const urls = [...new Set(readFileSync(file, 'utf8').split('\n'))].toSorted()
  const packages = urls.map((one) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(one)?.[1] ?? '')
  return {
    ...ended,
    own: urls.filter((one) => one.startsWith(DIST)).map((one) => one.slice(DIST.length)),
    packages: [...new Set(packages)].filter((name) => name !== ''),
  }
}

/** The modules of commands beside those of operations. */
const path = 'daemon/cli/own-commands.ts'
const COMMANDS = importsIn(path, readFileSync(join(ROOT, path), 'utf8'))
  .filter((name) => name.startsWith('./') && name !== './operation-command.ts')
  .map((name) => name.replace(/^\.\/(.*)\.ts$/, '$1'))
const ALL = [...new Set(COMMANDS)].toSorted()

const commandsIn = ({ own }: Loaded): readonly string[] =>
  ALL.filter((name) => own.includes(`daemon/cli/${name}.js`))

/** What serves requests, and what they are served from. */
const SERVICE =
  /^daemon\/(?:bundle|daemon|families|composition|http|worker|billing|openapi|mcp|telemetry)|^lib\/engine\/engine|^plugins\/(?!executable|\w+\/contract)/

interface Case {
  readonly line: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly commands: readonly string[]
}

const LIGHT: readonly Case[] = [
  { line: '--version', commands: [] },
  { line: '--help', commands: [] },
  { line: 'help', commands: [] },
  { line: 'help key create', commands: [] },
  { line: 'key create --help', commands: [] },
  { line: 'backup create --help', commands: ['backup'] },
  { line: `login ${url}`, input: KEY, commands: ['login'] },
  { line: 'logout', commands: ['login'] },
  { line: 'key list', env: remote, commands: [] },
  { line: 'webhook list --json', env: remote, commands: [] },
  { line: 'event list', env: remote, commands: ['follow'] },
  { line: 'key list', env: { KEYHOOK_DATA_DIR: running }, commands: [] },
  { line: 'doctor --live', env: { KEYHOOK_DATA_DIR: running }, commands: ['doctor-command'] },
]

await t.test('what no command needs of a service is not loaded', async (t) => {
  for (const { line, env, input, commands } of LIGHT) {
    const label = env === undefined ? line : `${line}, ${Object.keys(env)[0]}`
    const loaded = await run(line, env, input)
    t.equal(loaded.code, 0, `${label}: ${loaded.err}`)
    t.ok(loaded.own.includes('daemon/cli/program.js'), label)
    t.same(loaded.packages, ['commander'], label)
    t.same(
      loaded.own.filter((name) => SERVICE.test(name)),
      [],
      label,
    )
    t.same(commandsIn(loaded), commands, label)
  }
})

await t.test('an operation that explains its response loads its own family alone', async (t) => {
  const speaking = BUILT_IN.filter((one) => one.isExplained === true || one.isCsv === true)
  const families = new Set(speaking.map(({ id }) => id.replace(/\..*/, '')))
  t.same([...families].toSorted(), [...SPEAKING_FAMILIES.keys()].toSorted())
  const { own, packages } = await run('key revoke k1', remote)
  t.ok(own.includes('daemon/families/keys/family.js'))
  t.notOk(own.some((name) => /^daemon\/families\/(?!keys\/)\w+\/family\.js$/.test(name)))
  t.same(packages, ['commander', 'zod'])
})

await t.test('--version reads no setting', async (t) => {
  const { own } = await run('--version', { KEYHOOK_PORT: 'none' })
  t.same(
    own.filter((name) => name.startsWith('daemon/config/')),
    ['daemon/config/setting.js'],
  )
})

await t.test(
  'completion describes all commands, and loads what each needs to run no more',
  async (t) => {
    const loaded = await run('completion bash')
    t.same(commandsIn(loaded), ALL)
    t.same(
      loaded.own.filter((name) => /^daemon\/(?:bundle|daemon|families|http|worker)/.test(name)),
      [],
    )
  },
)

await t.test('a store that is opened for one command has no worker and no pages', async (t) => {
  const data = join(place, 'empty')
  mkdirSync(data, { recursive: true })
  const loaded = await run('account list', { KEYHOOK_DATA_DIR: data })
  t.equal(loaded.code, 0, loaded.err)
  t.ok(['koa', 'sequelize', 'zod'].every((name) => loaded.packages.includes(name)))
  t.ok(loaded.own.includes('daemon/families/index.js'), 'which the recorder sees')
  t.same(
    loaded.own.filter((name) =>
      /^daemon\/(?:bundle|daemon\.|worker|openapi|mcp|a2a|studio|testing|hosting\/listener)/.test(
        name,
      ),
    ),
    [],
  )
  t.same(
    loaded.packages.filter((name) => ['node-cron', 'zod-openapi'].includes(name)),
    [],
  )
})
