import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { examine } from '../../daemon/cli/doctor.ts'
import { openInOrder } from '../../daemon/composition/closers.ts'
import { createPlugin } from '../../daemon/composition/extensions/create.ts'
import { loadPlugins } from '../../daemon/composition/extensions/load.ts'
import { namedPlugins } from '../../daemon/composition/extensions/named.ts'
import { ConfigError, readConfig } from '../../daemon/config/config.ts'
import { openLocal } from '../../daemon/composition/local.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { createKeyhook } from '../../daemon/embed/index.ts'
import { takeDataFolder } from '../../daemon/machine/data-folder.ts'
import { clockOf } from '../../daemon/machine/ports.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { createClock } from '../support/clock.ts'
import { until } from '../support/daemon.ts'
import { EditError } from '../../plugins/edits/contract.ts'

const EDITOR = `{ available: true, carryOut: async () => undefined }`

/** A module whose plugin has these parts. */
const module = (parts = ''): string =>
  `export const plugin = { contract: 'edits', name: 'letters', create: () => (${EDITOR}), ${parts} }`

const machine = { clock: clockOf({ now: Date.now }), log: createLog('silent'), ownHosts: [] }

/** Everything that `serve` does with plugins before and while it opens. */
async function open(env: Readonly<Record<string, string>>, dataDir?: string) {
  const config = readConfig(env)
  const loaded = await loadPlugins(await namedPlugins(config, dataDir), config)
  return openInOrder(async (closers) => {
    const made: object[] = []
    for (const one of loaded) made.push(await createPlugin(one, machine, closers))
    return { made }
  })
}

async function refusal(env: Readonly<Record<string, string>>, dataDir?: string): Promise<string> {
  const cause: unknown = await open(env, dataDir).then(
    () => new Error('it opened'),
    (cause: unknown) => cause,
  )
  if (!(cause instanceof ConfigError)) throw cause
  return cause.message
}

const LETTERS_URL = `options: { name: { env: 'LETTERS_NAME', doc: 'Name.', default: 'a' },
  url: { env: 'LETTERS_URL', doc: 'Address.', default: 'letters' } }`

const MALFORMED: Readonly<Record<string, readonly [source: string, told: RegExp]>> = {
  'a syntax error': ['export const = 1', /, which cannot be loaded: /],
  'an error of its own': [`throw new Error('one\\ntwo')`, /, which cannot be loaded: one$/],
  'no export': ['export default {}', /, which exports no plugin$/],
  'a plugin of another contract': [module(`contract: 'deploy'`), /, which is a plugin of deploy$/],
  'an unknown contract': [module(`contract: 'store'`), /, whose plugin has another form: .*apps/],
  'a misspelt name': [module(`option: {}`), /another form: .*unknown name option/],
  'an option of Keyhook': [
    module(`options: { a: { env: 'KEYHOOK_A', doc: 'A.' } }`),
    /, whose plugin has another form: /,
  ],
  'an option that is missing': [
    module(`options: { a: { env: 'LETTERS_A', doc: 'The A.', required: true } }`),
    /, and LETTERS_A must be set with it: The A\.$/,
  ],
  'an error when it is created': [
    module(`create: async () => { throw new Error('it is Sunday\\nagain') }`),
    /, which cannot be opened: it is Sunday$/,
  ],
  'nothing that is created': [
    module('create: () => undefined'),
    /, which cannot be opened: what it creates lacks carryOut$/,
  ],
  'an origin that is none': [
    module(`network: { policy: 'listed', origins: () => ['x'] }`),
    /, which cannot be opened: each of its origins must be an address such as https:/,
  ],
  'an option that is no address': [
    module(`${LETTERS_URL}, network: { policy: 'listed', origins: ({ url }) => [url] }`),
    /, which cannot be opened: LETTERS_URL must be an address such as https:/,
  ],
  'an option that it cannot parse as an address': [
    module(
      `${LETTERS_URL}, network: { policy: 'listed', origins: ({ url }) => [new URL(url).origin] }`,
    ),
    /, which cannot be opened: LETTERS_URL must be an address such as https:/,
  ],
  'an address without http': [
    module(
      `${LETTERS_URL.replace('letters', 'letters:80')}, network: { policy: 'listed', origins: ({ url }) => [url] }`,
    ),
    /, which cannot be opened: LETTERS_URL must be an address such as https:/,
  ],
}

await t.test('a plugin that cannot be used stops the start with one line', async (t) => {
  const folder = t.testdir()
  for (const [at, [what, [source, told]]] of Object.entries(MALFORMED).entries()) {
    const file = join(folder, `plugin-${at}.mjs`)
    writeFileSync(file, source)
    const message = await refusal({ KEYHOOK_EDITS_PLUGIN: file })
    t.match(message, told, what)
    t.ok(message.startsWith(`KEYHOOK_EDITS_PLUGIN is ${file}, `), what)
    t.notMatch(message, /\n/, what)
  }
  t.match(await refusal({ KEYHOOK_APPS_PLUGIN: 'no-such-plugin-a1' }), /cannot be loaded: /)
  t.match(await refusal({ KEYHOOK_APPS_PLUGIN: 'toString' }), /cannot be loaded: /)
  for (const relative of ['./plugin.mjs', '../plugin.mjs']) {
    t.match(await refusal({ KEYHOOK_APPS_PLUGIN: relative }), /relative to the working directory/)
    t.match(await refusal({ KEYHOOK_FILES_PLUGIN: `a,${relative}` }), /cannot be loaded|relative/)
  }
  t.throws(() => readConfig({ KEYHOOK_APPS_PLUGIN: 'a,b' }), /must be one package/)
  t.throws(() => readConfig({ KEYHOOK_FILES_PLUGIN: 'a,a' }), /each once/)
})

await t.test('what a plugin created is closed although it cannot be used', async (t) => {
  const told = { closed: 0, create: Promise.resolve<object>({}) }
  Reflect.set(globalThis, Symbol.for('plugin-closing'), told)
  const seen = `globalThis[Symbol.for('plugin-closing')]`
  const folder = t.testdir({ 'own.mjs': module(`create: () => ${seen}.create`) })
  const config = readConfig({ KEYHOOK_EDITS_PLUGIN: join(folder, 'own.mjs') })
  const [one] = await loadPlugins(await namedPlugins(config, undefined), config)
  if (one === undefined) throw new Error('it is not loaded')
  const clock = createClock(0)
  const create = () =>
    openInOrder(async (closers) => ({
      made: await createPlugin(one, { ...machine, clock }, closers),
    }))
  const made = { close: () => void (told.closed += 1) }

  told.create = Promise.resolve(made)
  await t.rejects(create(), /what it creates lacks carryOut$/)
  t.equal(told.closed, 1)

  let finish: ((made: object) => void) | undefined
  told.create = new Promise((resolve) => (finish = resolve))
  const late = create()
  late.catch(() => undefined)
  await until('it waits for the plugin', async () => clock.timers === 1)
  await clock.advance(60_000)
  await t.rejects(late, /it was not created within 60 s$/)
  t.equal(told.closed, 1)
  finish?.(made)
  await until('it is closed', async () => told.closed === 2)
})

await t.test('a file outside of every package gets the package of the service', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'keyhook-plugin-'))
  t.teardown(() => {
    rmSync(folder, { recursive: true })
  })
  const file = join(folder, 'editor.mjs')
  const importing = (more: string): string => `
    import { definePlugin } from 'keyhook/plugins'
    import { EditError } from 'keyhook/plugins/edits'
    ${more}
    export const plugin = definePlugin({ contract: 'edits', name: 'letters',
      create: () => ({ ...${EDITOR}, EditError }) })`
  writeFileSync(file, importing(''))
  const { made, close } = await open({ KEYHOOK_EDITS_PLUGIN: file })
  t.equal(Reflect.get(made[0] ?? {}, 'EditError'), EditError, 'there is one copy')
  await close()
  const others: readonly (readonly [more: string, told: RegExp])[] = [
    [`import 'keyhook/no-such-part'`, /'\.\/no-such-part' is not (defined|exported)/],
    [`import 'keyhook-more'`, /Cannot find package 'keyhook-more'/],
    [`import './keyhook/plugins.mjs'`, /Cannot find module/],
  ]
  for (const [at, [more, told]] of others.entries()) {
    const other = join(folder, `other-${at}.mjs`)
    writeFileSync(other, importing(more))
    t.match(await refusal({ KEYHOOK_EDITS_PLUGIN: other }), told)
  }
})

await t.test('the plugins folder holds plugins by their contracts, and nothing else', async (t) => {
  const right = t.testdir({
    plugins: {
      'edits.mjs': module(),
      'billing-paddle.mjs': 'throw new Error("not loaded")',
      'package.json': '{}',
      node_modules: {},
      deploy: {
        'index.mjs': module(
          `contract: 'deploy', create: () => ({ build() {}, activate() {}, close() {} })`,
        ),
      },
    },
  })
  const { made, close } = await open({}, right)
  t.equal(made.length, 2)
  await close()

  const strange = t.testdir({ plugins: { 'notes.mjs': '' } })
  t.match(await refusal({}, strange), /has notes\.mjs, which is not called after a contract/)
  const two = t.testdir({ plugins: { 'apps.mjs': '', 'apps-s3.mjs': '' } })
  t.match(await refusal({}, two), /apps-s3\.mjs, and .*apps\.mjs too: only one can be used/)
})

await t.test('it gets its options, a log, a clock, a signal and a guarded fetch', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    void request.toArray().then((body) => {
      asked.push(`${request.method} ${request.url} ${Buffer.concat(body).toString()}`)
      response.setHeader('location', '/elsewhere').writeHead(302).end('moved')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const seen = `globalThis[Symbol.for('plugin-loading')]`
  const told: Record<string, unknown> = {}
  Reflect.set(globalThis, Symbol.for('plugin-loading'), told)
  const folder = t.testdir({
    secret: 'of a file',
    'own.mjs': module(`
      options: {
        url: { env: 'LETTERS_URL', doc: 'Address.', required: true },
        token: { env: 'LETTERS_TOKEN', doc: 'Token.', secret: true },
        model: { env: 'LETTERS_MODEL', doc: 'Model.', default: 'letters-1' },
        more: { env: 'LETTERS_MORE', doc: 'More.' },
      },
      network: { policy: 'listed', origins: ({ url }) => [url] },
      async create(ports) {
        Object.assign(${seen}, ports)
        return { ...${EDITOR}, async close() { ${seen}.closedAfter = ports.signal.aborted } }
      },
    `),
  })
  const { close } = await open({
    KEYHOOK_EDITS_PLUGIN: join(folder, 'own.mjs'),
    LETTERS_URL: `http://127.0.0.1:${port}`,
    LETTERS_TOKEN_FILE: join(folder, 'secret'),
  })
  t.strictSame(told['options'], {
    url: `http://127.0.0.1:${port}`,
    token: 'of a file',
    model: 'letters-1',
    more: undefined,
  })
  const fetch = told['fetch'] as typeof globalThis.fetch
  const bytes = new TextEncoder().encode('bytes')
  const answer = await fetch(`http://127.0.0.1:${port}/in`, { method: 'PUT', body: bytes })
  t.equal(answer.status, 302, 'no redirect is followed')
  t.equal(await answer.text(), 'moved')
  const head = await fetch(`http://127.0.0.1:${port}/in`, { method: 'HEAD' })
  t.equal(head.body, null)
  t.strictSame(asked, ['PUT /in bytes', 'HEAD /in '])
  await t.rejects(fetch(`http://127.0.0.1:${port + 1}/in`), { message: /not permitted/ })
  await t.rejects(fetch('http://example.com/'), { message: /not permitted/ })
  t.type((told['clock'] as { now(): number }).now(), 'number')
  await close()
  t.equal(told['closedAfter'], true, 'its signal aborts first')
})

await t.test('serve loads what others only name, and doctor shows what it declares', async (t) => {
  const folder = t.testdir({ data: { plugins: {} } })
  const data = join(folder, 'data')
  const plugin = join(data, 'plugins', 'edits.mjs')
  writeFileSync(plugin, `throw new Error('loaded')`)
  const env = { KEYHOOK_DATA_DIR: data, KEYHOOK_PORT: '0', KEYHOOK_APPS: 'off' }
  const log = createLog('silent')
  const found = async (): Promise<string | undefined> =>
    (await examine(env)).find(({ name }) => name === 'plugin of edits')?.detail

  await t.rejects(startDaemon(readConfig(env), log), /edits\.mjs, which cannot be loaded: loaded$/)
  t.match(await found(), /edits\.mjs\. `keyhook serve` loads it/)
  const held = await takeDataFolder(data, 'create')
  const local = await openLocal(readConfig(env), log, held, 'http://localhost')
  t.equal(local.platform.plugins.editor.available, false, 'the built-in one is not used either')
  await local.close()
  await held.release()

  const options = `options: { url: { env: 'LETTERS_URL', doc: 'Address of the model.' },
    token: { env: 'LETTERS_TOKEN', doc: 'Its token.', secret: true, required: true } }`
  writeFileSync(`${plugin.slice(0, -4)}-two.mjs`, module(options))
  writeFileSync(plugin, module(options))
  await t.rejects(startDaemon(readConfig(env), log), /only one can be used$/)
  rmSync(plugin)
  const given = { ...env, LETTERS_TOKEN: 'a-secret-token' }
  const daemon = await startDaemon(readConfig(given), log)
  t.equal(daemon.platform.plugins.editor.available, true)
  await daemon.stop()
  const shown = (await examine(given)).find(({ name }) => name === 'plugin of edits')
  t.equal(
    shown?.detail,
    'letters, which reaches nothing; LETTERS_URL is not given: Address of the model.; LETTERS_TOKEN is given',
  )
  t.match(await found(), /letters needs LETTERS_TOKEN: Its token\.$/)
})

await t.test('an embedder hands plugins over, with their options', async (t) => {
  const made: unknown[] = []
  const plugin = {
    contract: 'edits',
    name: 'letters',
    options: { model: { env: 'LETTERS_MODEL', doc: 'Model.', required: true } },
    create: ({ options }: { options: object }) => {
      made.push(options)
      return { available: true, carryOut: () => Promise.reject(new Error()) }
    },
  } as const
  const settings = { dataDir: t.testdir(), logLevel: 'silent', dispatch: false }
  const keyhook = await createKeyhook({
    ...settings,
    plugins: { edits: { plugin, options: { model: 5 } } },
  })
  t.equal(keyhook.platform.plugins.editor.available, true)
  t.strictSame(made, [{ model: '5' }])
  await keyhook.stop()
  const wrong: readonly (readonly [plugins: object, told: RegExp])[] = [
    [{ edits: plugin }, /^plugins\.edits is letters, and its option model must be set with it/],
    [
      { edits: { plugin, options: { modal: 'x' } } },
      /unknown name modal in options\.plugins\.edits/,
    ],
    [{ apps: { plugin } }, /options\.plugins\.apps is a plugin of edits/],
    [{ edit: plugin }, /unknown name edit in options\.plugins/],
    [{ edits: 'letters' }, /options\.plugins\.edits must be a plugin/],
    [{ files: [] }, /options\.plugins\.files must be/],
  ]
  for (const [plugins, message] of wrong) {
    await t.rejects(createKeyhook({ ...settings, plugins }), { message })
  }
  for (const unknown of [() => 1, undefined, null, 5, {}, Symbol('x')]) {
    const options = { ...settings, unknownOption: unknown } as object
    await t.rejects(createKeyhook(options), { name: 'TypeError', message: /unknownOption/ })
  }
})
