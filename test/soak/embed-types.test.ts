import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { packKeyhook } from '../support/packed.ts'

/** As strict as an embedder may be; what is wrong in it is expected, line by line. */
const COMPILER_OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  module: 'nodenext',
  target: 'es2022',
  types: ['node'],
  noEmit: true,
}

const PROGRAM = `
import { createServer } from 'node:http'
import { KeyhookError } from 'keyhook'
import { ApiError, createClient } from 'keyhook/client'
import type { Keyhook } from 'keyhook/daemon'
import { createKeyhook } from 'keyhook/daemon'
import { definePlugin } from 'keyhook/plugins'
import { mount } from 'keyhook/koa'
import { defineErrors, defineFamily, operation, z } from 'keyhook/families'
import { verifyWebhook } from 'keyhook/verify'

const keyhook = await createKeyhook({
  dataDir: 'data',
  scopes: { orders: ['read', 'write'] },
  eventTypes: ['order.paid'],
})
// @ts-expect-error there is no such setting
await createKeyhook({ dataDirectory: 'data' })

const { key, authority } = await keyhook.keys.verify('value', { scope: 'orders:read' })
const account: string = key.account_id
console.log(authority.scopes)
await keyhook.keys.verify(undefined, { scopes: ['orders:read', 'orders:write'], app: 'app_1' })
await keyhook.keys.verify('value', { app: 'app_1' })
await keyhook.keys.verify('value', { scope: null })
// @ts-expect-error a call that requires nothing says so
await keyhook.keys.verify('value')
// @ts-expect-error it says so by name
await keyhook.keys.verify('value', {})
// @ts-expect-error a list of scopes is not empty
await keyhook.keys.verify('value', { scopes: [] })
// @ts-expect-error a scope that may be undefined may be a requirement that got lost
await keyhook.keys.verify('value', { scope: undefined })
// @ts-expect-error a requirement is named
await keyhook.keys.verify('value', 'orders:read')
const created = await keyhook.as(account).keys.create({ name: 'CI', scopes: ['orders:read'] })
const value: string = created.key
const { secret }: { secret: string } = await keyhook
  .as(account)
  .webhooks.create({ url: 'https://example.com', events: ['order.paid'] })
const again = await keyhook
  .as(account)
  .keys.create({ name: 'CI', scopes: ['orders:read'] }, { idempotencyKey: secret })
// @ts-expect-error with a key of the caller's it may be the replay of an earlier call
const replayed: string = again.key
console.log(replayed)
// @ts-expect-error a scope that was not declared
await keyhook.keys.verify('value', { scope: 'orders:reed' })
await keyhook.keys.verify('value', { scope: 'webhooks:write' })
// @ts-expect-error an event type that was not declared
await keyhook.webhooks.publish({ account_id: account, type: 'order.payed', data: {} })
const loose: Keyhook = keyhook
await loose.webhooks.publish({ account_id: account, type: 'account.own', data: {} })
const read: readonly string[] = ['order.sent']
const dynamic = await createKeyhook({ eventTypes: read })
await dynamic.webhooks.publish({ account_id: account, type: 'order.sent', data: {} })
const GET = keyhook.fetch
const answer: Response = await GET(new Request('http://127.0.0.1'), { params: {} })
const web = keyhook.web({ address: (_request: Request, peer: { ip: string }) => peer.ip })
await web(new Request('http://127.0.0.1'), { ip: '127.0.0.1' })
// @ts-expect-error what the framework passes is asked for
await web(new Request('http://127.0.0.1'))
console.log(answer.status)
const apps = definePlugin({
  contract: 'edits',
  name: 'own',
  options: { url: { env: 'OWN_URL', doc: 'Address.', required: true }, more: { env: 'OWN_MORE', doc: 'More.' } },
  network: { policy: 'listed', origins: ({ url }) => [url] },
  create({ options }) {
    const url: string = options.url
    // @ts-expect-error an option that is not required may be missing
    const more: string = options.more
    console.log(url, more)
    return { available: true, carryOut: () => Promise.reject(new Error('no')) }
  },
})
await createKeyhook({ plugins: { edits: { plugin: apps, options: { url: 'http://127.0.0.1' } } } })
// @ts-expect-error a plugin of another contract
await createKeyhook({ plugins: { files: apps } })
const potError = defineErrors({ pot_not_found: { status: 404, text: 'There is no such pot.' } })
const getPot = operation({
  effect: 'read',
  id: 'pots.get_one',
  summary: 'Show a pot',
  method: 'GET',
  path: '/v1/pots/{pot_id}',
  access: { scope: 'pots:read', pinned: 'refused' },
  agent: { omit: 'Pots are hot.' },
  emits: ['pots'],
  input: { params: z.strictObject({ pot_id: z.string() }) },
  output: z.strictObject({ degrees: z.number() }),
  errors: ['pot_not_found'],
  example: { params: { pot_id: '1' }, response: { degrees: 100 } },
  run: ({ params }) => Promise.resolve({ degrees: params.pot_id.length }),
})
const pots = defineFamily({
  name: 'pots',
  scopes: { pots: ['read'] },
  events: [],
  errors: potError,
  operations: [getPot],
})
// @ts-expect-error an operation says who may call it
operation({ ...getPot, access: undefined })
// @ts-expect-error nobody declares this error
defineFamily({ ...pots, errors: defineErrors({}), operations: [operation({ ...getPot, errors: ['no_pot'] })] })
const cooking = await createKeyhook({ scopes: { orders: ['read'] }, families: [pots, 'apps'] })
const { degrees }: { degrees: number } = await cooking.as(account).pots.getOne({ pot_id: '1' })
// @ts-expect-error a pot has an id
await cooking.as(account).pots.getOne({})
// @ts-expect-error there is no such operation of pots
await cooking.as(account).pots.boil({ pot_id: '1' })
const { data: shops } = await cooking.as(account).apps.list()
// @ts-expect-error edits were not asked for
await cooking.as(account).edits.list({ app_id: '1' })
// @ts-expect-error nor was anything of the platform here
await keyhook.as(account).apps.list()
await cooking.keys.verify('value', { scopes: ['pots:read', 'apps:write', 'orders:read'] })
// @ts-expect-error the family has no such scope
await cooking.keys.verify('value', { scope: 'pots:write' })
// @ts-expect-error nor are there scopes of families that were not asked for
await keyhook.keys.verify('value', { scope: 'apps:read' })
// @ts-expect-error the operator's operations are those of the daemon
await keyhook.as(account).operator.status()
// @ts-expect-error there is no such family of the platform
await createKeyhook({ families: ['pans'] })
const plain: Keyhook = cooking
console.log(degrees, shops.length, plain)
// @ts-expect-error there is no such operation
await keyhook.as(account).keys.destroy({ key_id: created.id })

const event = { account_id: account, type: 'order.paid', data: {} } as const
await keyhook.transaction((transaction) => keyhook.webhooks.publish(event, { transaction }))
// @ts-expect-error an event has data
await keyhook.webhooks.publish({ account_id: account, type: 'order.paid' })

const work = { account_id: account, operation_id: 'report_1' }
const quote = await keyhook.billing.quote({ account_id: account, operation: 'reports.create' })
const price: number = quote.required_micros
await keyhook.transaction((transaction) =>
  keyhook.billing.hold({ ...work, operation: 'reports.create', quantity: 2 }, { transaction }),
)
// @ts-expect-error a hold has an operation
await keyhook.billing.hold(work)
// @ts-expect-error a key that may be undefined may be one that got lost
await keyhook.billing.hold({ ...work, operation: 'reports.create', key_id: undefined })
// @ts-expect-error the amount follows from the prices
await keyhook.billing.hold({ ...work, operation: 'reports.create', amount_micros: price })
const { captured_micros }: { captured_micros: number } = await keyhook.billing.capture(work)
await keyhook.billing.release(work)
const { plan }: { plan: 'free' | 'pro' } = await keyhook.accounts.update(account, { plan: 'free' })
// @ts-expect-error there is no such plan
await keyhook.accounts.update(account, { plan: 'gold' })
console.log(captured_micros, plan)

createServer(keyhook.callback({ prefix: '/developer', resolve: async () => undefined }))
mount(keyhook, { resolve: async () => ({ account_id: account, user_id: 'user_1' }) })

const client = createClient({ baseUrl: 'http://127.0.0.1:8420', key: value })
for await (const { url } of client.webhooks.list.all()) console.log(url.length)
const edit = { app_id: 'k3v9q2m7x4ta', prompt: 'Add opening hours.' }
const { required_micros }: { required_micros: number } = await client.edits.create({ ...edit, dry_run: 'true' })
const { status }: { status: string } = await client.edits.create(edit)
const made = await client.edits.create({ ...edit, dry_run: 'false' })
// @ts-expect-error only a dry run returns a price
console.log(required_micros, status, made.required_micros)
// @ts-expect-error nothing is done in a dry run
console.log((await client.apps.create({ prompt: 'A shop', dry_run: 'true' })).alias)
// @ts-expect-error an operation without a price has no dry run
await client.webhooks.create({ url: 'https://example.com', events: ['*'], dry_run: 'true' })
// @ts-expect-error a webhook has events
await client.webhooks.create({ url: 'https://example.com' })

try {
  const { type }: { type: string } = await verifyWebhook('{}', {}, 'whsec_')
  console.log(type)
} catch (error) {
  if (error instanceof ApiError || error instanceof KeyhookError) console.log(error.code, error.status)
}
`

await t.test('the packed package is typed for a strict embedder, and whole', async (t) => {
  const packed = await packKeyhook()
  t.teardown(() => packed.remove())
  const folder = await packed.install(['@types/node'])
  t.throws(() => createRequire(join(folder, 'shop.ts')).resolve('tap'), 'nothing else is found')

  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await writeFile(join(folder, 'shop.ts'), PROGRAM)
  const config = { compilerOptions: COMPILER_OPTIONS, files: ['shop.ts'] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  t.equal(stdout, '')
  t.equal(status, 0)
})

/** The compiler of this repository no longer has that resolution, which names the file that it finds. */
await t.test(
  'a resolution that cannot read the entries finds a file named by the remedy',
  async (t) => {
    const packed = await packKeyhook()
    t.teardown(() => packed.remove())
    const keyhook = join(await packed.install([]), 'node_modules', 'keyhook')
    const manifest = JSON.parse(await readFile(join(keyhook, 'package.json'), 'utf8')) as {
      typesVersions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
    }
    const [file = ''] = manifest.typesVersions['*']?.['*'] ?? []
    t.equal(file, 'set-moduleResolution-to-nodenext-or-bundler.d.ts')
    const text = await readFile(join(keyhook, file), 'utf8')
    t.notMatch(text.replaceAll(/\/\*[^]*?\*\//g, ''), /\S/, 'a module would be accepted')
  },
)
