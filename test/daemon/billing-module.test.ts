import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { keepIdentity } from '../../daemon/composition/identity.ts'
import { openProcessing } from '../../daemon/composition/processor.ts'
import { ConfigError, readConfig } from '../../daemon/config/config.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { createMemoryProcessor } from '../../plugins/billing/memory.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { ROOT } from '../arch/source.ts'
import { createClock } from '../support/clock.ts'

const built = (path: string): string =>
  JSON.stringify(pathToFileURL(join(ROOT, 'dist/plugins/billing', path)).href)

const ERRORS = `import { ProcessorError } from ${built('errors.js')};`
const MEMORY = `import { createMemoryProcessor } from ${built('memory.js')};`

/** A module whose plugin has these parts. */
const plugin = (parts: string): string =>
  `${ERRORS}${MEMORY}
   const right = { name: 'tills', settings: [], origins: () => [],
     open: async (ports) => createMemoryProcessor({ clock: ports.clock }) }
   export const paymentProcessor = { ...right, ${parts} }`

const MALFORMED: Readonly<Record<string, readonly [source: string, told: RegExp]>> = {
  'a syntax error': ['export const = 1', /, which cannot be loaded: /],
  'an import that is not there': [`import 'no-such-package-a1'`, /, which cannot be loaded: /],
  'an error of its own': [
    `throw new Error('line one\\nline two')`,
    /, which cannot be loaded: line one$/,
  ],
  'no export': ['export default {}', /, which exports no paymentProcessor$/],
  'an export that is a function': [
    'export function paymentProcessor() {}',
    /, which exports no paymentProcessor$/,
  ],
  'settings that are names': [plugin(`settings: ['A']`), /, which exports no paymentProcessor$/],
  'no open': [plugin('open: undefined'), /, which exports no paymentProcessor$/],
  'the name of a mode': [plugin(`name: 'internal'`), /, whose name is not /],
  'a name that is no word': [plugin(`name: '../x'`), /, whose name is not /],
  'nothing that is opened': [plugin('open: async () => undefined'), /, which opens no payment pro/],
  'an error when it opens': [
    plugin('open: async () => ({ ...createMemoryProcessor({ clock }), receive: undefined })'),
    /, which cannot be opened: clock is not defined$/,
  ],
  'a processor without receive': [
    plugin(
      'open: async ({ clock }) => ({ ...createMemoryProcessor({ clock }), receive: undefined })',
    ),
    /, which opens no payment processor$/,
  ],
  'an address that is none': [plugin(`origins: () => ['x']`), /, which cannot be opened: /],
  'a service that is away': [
    plugin(`open: async () => { throw new ProcessorError('unavailable') }`),
    /, which cannot be opened: The payment processor did not answer/,
  ],
  'a setting that is wrong': [
    plugin(`open: async () => {
      throw new ProcessorError('misconfigured', { internal: 'TILLS_KEY must be a key' }) }`),
    /^TILLS_KEY must be a key$/,
  ],
  'a setting that is missing': [
    plugin(`settings: [{ name: 'TILLS_KEY', required: true }]`),
    /^KEYHOOK_BILLING is tills, and TILLS_KEY must be set with it$/,
  ],
}

await t.test('a processor of another form is closed by the start that refuses it', async (t) => {
  const folder = t.testdir()
  const closed = join(folder, 'closed')
  const file = join(folder, 'module.mjs')
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs'
${plugin(`open: async ({ clock }) => ({
      ...createMemoryProcessor({ clock }),
      receive: undefined,
      close: async () => writeFileSync(${JSON.stringify(closed)}, ''),
    })`)}`,
  )
  const env = { KEYHOOK_DATA_DIR: join(folder, 'data'), KEYHOOK_PORT: '0', KEYHOOK_APPS: 'off' }
  const config = readConfig({ ...env, KEYHOOK_BILLING: file })
  await t.rejects(startDaemon(config, createLog('silent')), /which opens no payment processor/)
  t.ok(existsSync(closed))
})

await t.test('a module that is missing or malformed stops the start with one line', async (t) => {
  const folder = t.testdir()
  const start = async (billing: string): Promise<string> => {
    const env = { KEYHOOK_DATA_DIR: join(folder, 'data'), KEYHOOK_PORT: '0' }
    const config = readConfig({ ...env, KEYHOOK_APPS: 'off', KEYHOOK_BILLING: billing })
    const failure: unknown = await startDaemon(config, createLog('silent')).then(
      async (daemon) => {
        await daemon.stop()
        return new Error('it started')
      },
      (cause: unknown) => cause,
    )
    t.ok(failure instanceof ConfigError, String(failure))
    const { message } = failure as Error
    t.notMatch(message, /\n/, 'one line')
    return message
  }
  for (const [at, [what, [source, told]]] of Object.entries(MALFORMED).entries()) {
    const file = join(folder, `module-${at}.mjs`)
    writeFileSync(file, source)
    const message = await start(file)
    t.match(message, told, what)
    if (!/_KEY/.test(message)) t.ok(message.startsWith(`KEYHOOK_BILLING is ${file}, wh`), what)
  }
  t.match(await start(join(folder, 'none.mjs')), /none\.mjs, which cannot be loaded: Cannot find/)
  t.match(
    await start('no-such-processor-a1'),
    /^KEYHOOK_BILLING is no-such-processor-a1, not one of none, internal, stripe, which/,
  )
})

await t.test('another account, or another mode, of the processor is refused', async (t) => {
  const folder = t.testdir()
  const start = async (identity: string): Promise<string> => {
    const file = join(folder, `${Buffer.from(identity).toString('hex')}.mjs`)
    const open = `async ({ clock }) =>
      ({ ...createMemoryProcessor({ clock }), identify: async () => (${identity}) })`
    writeFileSync(file, plugin(`open: ${open}`))
    const env = { KEYHOOK_DATA_DIR: join(folder, 'data'), KEYHOOK_PORT: '0', KEYHOOK_APPS: 'off' }
    const config = readConfig({ ...env, KEYHOOK_BILLING: file })
    try {
      const daemon = await startDaemon(config, createLog('silent'))
      await daemon.stop()
      return 'started'
    } catch (cause) {
      t.ok(cause instanceof ConfigError, String(cause))
      return (cause as Error).message
    }
  }
  const away = `Promise.reject(new ProcessorError('unavailable'))`
  const otherMode =
    'KEYHOOK_BILLING is tills in its live mode, but this database has records of its test mode. Set a key of the test mode, or begin with an empty database'
  t.equal(await start(away), 'started', 'an account that is not told')
  t.equal(await start('{ account_id: null, live: false }'), 'started')
  t.equal(await start('{ account_id: null, live: true }'), otherMode)
  t.equal(await start(`{ account_id: 'acct_1', live: false }`), 'started')
  t.equal(
    await start(`{ account_id: 'acct_2', live: false }`),
    'KEYHOOK_BILLING is tills with the account acct_2, but this database has records of acct_1. Set a key of acct_1, or begin with an empty database',
  )
  t.equal(await start(`{ account_id: 'acct_1', live: true }`), otherMode)
  t.equal(await start(away), 'started')
  t.equal(await start(`{ account_id: 'acct_1', live: false }`), 'started')
})

await t.test('a start does not wait for a processor that ignores its signal', async (t) => {
  const clock = createClock(0)
  const { store } = await openPlatformStore(join(t.testdir(), 'keyhook.sqlite'))
  t.teardown(() => store.close())
  let given: AbortSignal | undefined
  const processor = {
    ...createMemoryProcessor({ clock }),
    identify: (signal: AbortSignal) => {
      given = signal
      return new Promise<never>(() => undefined)
    },
  }
  const asked = keepIdentity(store, { name: 'tills', processor }, clock)
  await clock.advance(5000)
  await asked
  t.equal(given?.aborted, true)
  t.equal(clock.timers, 0)
})

await t.test('a live key of Stripe goes to Stripe alone, and the fake gets none', async (t) => {
  const env = {
    KEYHOOK_BILLING: 'stripe',
    KEYHOOK_STRIPE_WEBHOOK_SECRET: 'whsec_a1',
    KEYHOOK_STRIPE_PRICE_PRO: 'price_a1',
  }
  const open = async (key: string, base: string | undefined): Promise<string> => {
    const closing: (() => unknown)[] = []
    const ports = { clock: createClock(0), ownHosts: [] }
    const given = { KEYHOOK_STRIPE_API_KEY: key, KEYHOOK_STRIPE_BASE_URL: base }
    try {
      const config = readConfig({ ...env, ...given })
      await openProcessing(config, ports, { push: (close) => void closing.push(close) })
      return 'opened'
    } catch (cause) {
      t.ok(cause instanceof ConfigError, String(cause))
      return (cause as Error).message
    } finally {
      for (const close of closing.toReversed()) await close()
    }
  }
  const fake = 'http://127.0.0.1:12111'
  const refusal =
    'KEYHOOK_STRIPE_BASE_URL must be https://api.stripe.com, because the key is a live one'
  for (const live of ['sk_live_secretA1', 'rk_live_secretA1']) {
    for (const base of [fake, 'http://[::1]:12111', 'http://localhost:12111']) {
      t.equal(await open(live, base), refusal, `${live} at ${base}`)
    }
    t.equal(await open(live, undefined), 'opened', 'Stripe is the default')
  }
  t.equal(await open('sk_test_a1', fake), 'opened')
  t.equal(await open('sk_test_a1', undefined), 'opened', 'the test mode of Stripe')
  for (const elsewhere of ['https://stripe.example.com', 'http://192.0.2.1:12111']) {
    t.match(
      await open('sk_test_a1', elsewhere),
      /^KEYHOOK_STRIPE_BASE_URL must be the origin of a server on loopback/,
    )
  }
})
