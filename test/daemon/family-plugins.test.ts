import { get as httpGet } from 'node:http'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { examine } from '../../daemon/cli/doctor.ts'
import { requireAddable } from '../../daemon/composition/added-families.ts'
import { readConfig } from '../../daemon/config/config.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { createKeyhook } from '../../daemon/embed/index.ts'
import {
  defineFamily,
  defineRecords,
  defineErrors,
  operation,
  z,
} from '../../daemon/families/define.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { openDatabase } from '../../plugins/registry.ts'
import { until } from '../support/daemon.ts'
import { familyAt, writeNotes } from '../support/notes-family.ts'
import { startPostgres } from '../support/postgres.ts'

const masterKey = `k1:${Buffer.alloc(32, 1).toString('base64')}`
const postgres = await startPostgres()
t.teardown(() => postgres.stop())
const folder = t.testdir()
const notes = await familyAt(await writeNotes(folder))

interface Note {
  readonly id: string
  readonly text: string
  readonly words: number | null
}

/** The client of the notes, which come from a module without types. */
interface Notes {
  create(given: object, options?: object): Promise<Note>
  get(given: object): Promise<Note>
  list(
    given?: object,
  ): Promise<{ readonly data: readonly Note[]; readonly next_cursor: string | null }>
}

/** A family that fails after it has written everything. */
const records = defineRecords({
  family: 'fails',
  tables: ['rows'],
  migrations: [
    { name: '0001-rows', up: (t, d) => [`CREATE TABLE ${t.rows} (id ${d.id} PRIMARY KEY)`] },
  ],
})
const failError = defineErrors({ it_fails: { status: 409, text: 'It always does.' } })
const fails = defineFamily({
  name: 'fails',
  scopes: { fails: ['write'] },
  events: [],
  errors: failError,
  operations: [
    operation({
      effect: 'write',
      id: 'fails.create',
      summary: 'Fail after writing',
      method: 'POST',
      path: '/v1/fails',
      access: { scope: 'fails:write', pinned: 'refused' },
      agent: { omit: 'It is there for a test.' },
      emits: ['fails'],
      input: { body: z.strictObject({ sql: z.string() }) },
      output: z.strictObject({}),
      errors: ['it_fails'],
      example: { body: { sql: 'SELECT 1' }, response: {} },
      async run({ tx, platform, body }) {
        const { query, tables } = tx.sql(records)
        await query(`INSERT INTO ${tables.rows} (id) VALUES ($1)`, [platform.newId()])
        await query(body.sql)
        throw new Error('defect')
      },
    }),
  ],
  records,
})

for (const dialect of ['sqlite', 'postgres'] as const) {
  await t.test(`records of a family over ${dialect}`, async (t) => {
    const database =
      dialect === 'sqlite' ? join(t.testdir(), 'shop.sqlite') : await postgres.createDatabase()
    const open = (families: readonly [Family, ...Family[]]) =>
      createKeyhook({
        database,
        masterKey,
        logLevel: 'silent',
        baseUrl: 'http://127.0.0.1',
        families,
      })
    const keyhook = await open([notes, fails])
    const account = keyhook.as('acct_1')
    const mine = (account as unknown as { readonly notes: Notes }).notes
    const note = await mine.create({ text: 'Buy some milk' }, { idempotencyKey: 'once' })
    const again = await mine.create({ text: 'Buy some milk' }, { idempotencyKey: 'once' })
    t.equal(again.id, note.id, 'a repeated request has one note')
    t.equal(note.words, null)
    await until(
      'the job has counted',
      async () => (await mine.get({ note_id: note.id })).words === 3,
    )
    const { data: events } = await account.events.list()
    t.strictSame(
      events.map(({ type }) => type),
      ['note.created'],
    )
    const { data: entries } = await account.audit.list()
    t.strictSame(
      entries.map(({ action }) => action),
      ['note.created'],
    )
    const other = (keyhook.as('acct_2') as unknown as { readonly notes: Notes }).notes
    await t.rejects(other.get({ note_id: note.id }), { status: 404, code: 'note_not_found' })
    t.strictSame((await other.list()).data, [])
    await mine.create({ text: 'Two' })
    const first = await mine.list({ limit: '1' })
    t.strictSame(
      first.data.map(({ text }) => text),
      ['Two'],
    )
    const second = await mine.list({ limit: '1', cursor: first.next_cursor })
    t.strictSame(
      second.data.map(({ text }) => text),
      ['Buy some milk'],
    )

    const failing = (account as unknown as { fails: { create(given: object): Promise<unknown> } })
      .fails
    const { query, tables } = keyhook.platform.store.sql(records)
    const rows = async (): Promise<number> => (await query(`SELECT id FROM ${tables.rows}`)).length
    for (const sql of ['SELECT 1', 'COMMIT', ' rollback', 'SELECT * FROM no_such_table']) {
      await t.rejects(failing.create({ sql }), { code: /./, message: /./ })
      t.equal(await rows(), 0, `${sql}: nothing of it is there`)
    }
    await keyhook.stop()
    const reopened = await open([notes])
    t.strictSame(
      (await (reopened.as('acct_1') as unknown as { readonly notes: Notes }).notes.list()).data
        .length,
      2,
      'a second start runs no migration again',
    )
    await reopened.stop()
  })

  await t.test(`migrations of a family over ${dialect}`, async (t) => {
    const database =
      dialect === 'sqlite' ? join(t.testdir(), 'm.sqlite') : await postgres.createDatabase()
    const step = (name: string, up: (tables: { readonly rows: string }) => readonly string[]) =>
      ({ name, up }) as const
    const first = step('0001-rows', (t) => [`CREATE TABLE ${t.rows} (id TEXT PRIMARY KEY)`])
    const migrate = async (...migrations: readonly (typeof first)[]) => {
      const own = defineRecords({ family: 'own', tables: ['rows'], migrations })
      const { store, migrated } = await openDatabase(database, { records: [own] })
      await store.close()
      return migrated
    }
    t.strictSame((await migrate(first)).slice(-1), ['own/0001-rows'])
    t.strictSame(await migrate(first), [])
    const foreign = [
      step('0002-other', () => ['CREATE TABLE other (id TEXT)']),
      step('0002-other', () => ['DROP TABLE keyhook_tasks']),
    ]
    for (const one of foreign) {
      await t.rejects(migrate(first, one), {
        message:
          /^the migration 0002-other of the family own (creates or drops (other|keyhook_tasks)|failed: )/,
      })
    }
    await t.rejects(
      migrate(
        first,
        step('0002-bad', () => ['CREATE TABEL x']),
      ),
      {
        message: /^the migration 0002-bad of the family own failed: .*syntax error/,
      },
    )
    const second = step('0002-more', (t) => [`ALTER TABLE ${t.rows} ADD COLUMN more TEXT`])
    t.strictSame(await migrate(first, second), ['own/0002-more'], 'nothing of those was kept')
    await t.rejects(migrate(first), {
      message:
        'the family own has no migration 0002-more, which this database has run: use its newer version',
    })
    const edited = step('0001-rows', (t) => [`CREATE TABLE ${t.rows} (id INTEGER PRIMARY KEY)`])
    await t.rejects(migrate(edited, second), {
      message:
        'the family own changed its migration 0001-rows, which this database has run: add another one instead',
    })
  })
}

await t.test('daemons that start together migrate a family once', async (t) => {
  const url = await postgres.createDatabase()
  const own = defineRecords({
    family: 'own',
    tables: ['rows'],
    migrations: [{ name: '0001-rows', up: (t) => [`CREATE TABLE ${t.rows} (id TEXT)`] }],
  })
  const opened = await Promise.all([1, 2, 3].map(() => openDatabase(url, { records: [own] })))
  t.equal(opened.filter(({ migrated }) => migrated.includes('own/0001-rows')).length, 1)
  await Promise.all(opened.map(({ store }) => store.close()))
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query('SELECT family, name FROM keyhook_x_migrations')
  t.strictSame(rows, [{ family: 'own', name: '0001-rows' }])
  await client.end()
})

await t.test('a family that clashes, or has another form, is refused in one line', async (t) => {
  const [create] = fails.operations
  const changed = (parts: object, of: object = {}): Family =>
    ({ ...fails, operations: [{ ...create, ...of }], ...parts }) as unknown as Family
  const without = (name: string): object =>
    Object.fromEntries(Object.entries(create as object).filter(([one]) => one !== name))
  const refused: readonly (readonly [Family, RegExp])[] = [
    [
      changed({ name: 'keys', records: undefined, operations: [] }),
      /there is another family keys$/,
    ],
    [changed({ name: 'Fails' }), /its name is not/],
    [
      changed(
        { scopes: { apps: ['write'] } },
        { access: { scope: 'apps:write', pinned: 'refused' } },
      ),
      /another scope apps$/,
    ],
    [
      changed({
        events: [{ type: 'app.created', scope: 'fails:write', description: 'd', sample: {} }],
      }),
      /another event type app\.created$/,
    ],
    [
      changed({
        errors: defineErrors({
          ...failError.rows,
          key_not_found: { status: 404, text: 'x' },
        }),
      }),
      /another error key_not_found$/,
    ],
    [changed({}, { id: 'keys.create' }), /operation keys\.create is not called fails\.<verb>$/],
    [changed({}, { path: '/v1/{region}/fails' }), /is not of the form \/v1\/fails\/\{id\}$/],
    [changed({}, { path: '/v1/keys' }), /another operation at POST \/v1\/keys, keys\.create$/],
    [changed({}, { path: '/v1/keys/{id}/{verb}' }), /another operation at POST \/v1\/keys\//],
    [changed({}, { path: '/mcp' }), /path of fails\.create/],
    [changed({}, { command: 'key make' }), /another command key$/],
    [
      changed({}, { access: { scope: 'fails:read', pinned: 'refused' } }),
      /needs the scope fails:read, which nobody declares$/,
    ],
    [changed({}, { access: { scope: 'fails:write' } }), /operation\.access must be/],
    [changed({}, { errors: ['no_such_code'] }), /names the error no_such_code/],
    [changed({}, { agent: { toolset: 'fails', default: true } }), /cannot be a tool by default/],
    [changed({}, { example: { response: { more: 1 } } }), /example response of fails\.create/],
    [
      changed({
        events: [
          {
            type: 'fail.made',
            scope: 'fails:write',
            description: 'd',
            schema: z.object({ at: z.custom((value) => value === 1) }),
            sample: { at: 1 },
          },
        ],
      }),
      /OpenAPI document cannot be built: .*webhooks.*fail\.made.*at/,
    ],
    [
      changed(
        {},
        {
          agent: { toolset: 'fails' },
          output: z.array(z.string()),
          example: { response: ['a'] },
        },
      ),
      /list of tools cannot be built: not the schema of an object/,
    ],
    [changed({ operations: [without('access')] }), /operation\.access must be/],
    [changed({ operations: [without('agent')] }), /operation\.agent must be/],
    [changed({ operations: [without('effect')] }), /operation\.effect must be/],
    [changed({ operations: [create, create] }), /another operation fails\.create$/],
    [changed({ records: { ...records, family: 'keys' } }), /its records are those of keys$/],
    [changed({ scope: {} }), /unknown name scope/],
  ]
  for (const [family, message] of refused) {
    await t.rejects(requireAddable([family]), { name: 'TypeError', message })
  }
  await t.rejects(requireAddable([fails, fails]), {
    message: /there is another family fails$/,
  })
  await requireAddable([fails, notes])
})

await t.test('a module that cannot be a family stops the start', async (t) => {
  const root = t.testdir()
  const start = (env: Readonly<Record<string, string>>) =>
    startDaemon(
      readConfig({
        KEYHOOK_DATA_DIR: join(root, 'data'),
        KEYHOOK_PORT: '0',
        KEYHOOK_APPS_PORT: '0',
        ...env,
      }),
      createLog('silent'),
    )
  const path = await writeNotes(root, 'clash.mjs', (text) =>
    text.replaceAll("'note.created'", "'app.created'"),
  )
  await t.rejects(start({ KEYHOOK_FAMILIES_PLUGIN: path }), {
    name: 'ConfigError',
    message: `KEYHOOK_FAMILIES_PLUGIN is ${path}: the family notes cannot be served: there is another event type app.created`,
  })
  const misfit = await writeNotes(root, 'misfit.mjs', (text) =>
    text.replace(
      'z.strictObject({ note_id: z.string(), text:',
      'z.strictObject({ note: z.string(), text:',
    ),
  )
  await t.rejects(start({ KEYHOOK_FAMILIES_PLUGIN: misfit }), {
    message: `KEYHOOK_FAMILIES_PLUGIN is ${misfit}: the family notes cannot be served: the sample of note.created does not fit its schema`,
  })
  const plain = await writeNotes(root, 'plain.mjs', () => 'export const plugin = {}')
  await t.rejects(start({ KEYHOOK_FAMILIES_PLUGIN: plain }), {
    message: `KEYHOOK_FAMILIES_PLUGIN is ${plain}, which exports no family`,
  })
  const own = await writeNotes(root)
  await t.rejects(start({ KEYHOOK_FAMILIES_PLUGIN: own, KEYHOOK_SCOPES: 'notes:read' }), {
    message: 'KEYHOOK_SCOPES names notes, which the service itself declares',
  })
})

await t.test('over PostgreSQL doctor names the tables that a family left', async (t) => {
  const root = t.testdir()
  const url = await postgres.createDatabase()
  const env = {
    KEYHOOK_DATA_DIR: join(root, 'data'),
    KEYHOOK_DATABASE_URL: url,
    KEYHOOK_MASTER_KEY: masterKey,
    KEYHOOK_PORT: '0',
    KEYHOOK_APPS_PORT: '0',
  }
  const named = { KEYHOOK_FAMILIES_PLUGIN: await writeNotes(root) }
  const daemon = await startDaemon(readConfig({ ...env, ...named }), createLog('silent'))
  await daemon.stop()
  const tables = async (given: NodeJS.ProcessEnv) =>
    (await examine(given)).filter(({ name }) => name === 'tables').map(({ detail }) => detail)
  t.strictSame(await tables({ ...env, ...named }), [])
  t.strictSame(await tables(env), [
    'keyhook_x_notes_notes: left by the family notes, which no plugin brings any more. Bring it back, or drop them',
  ])
})

const PLATFORM = ['apps', 'edits', 'files', 'deploy', 'observe', 'settings'] as const

await t.test('what an embedder did not ask for is nowhere', async (t) => {
  const keyhook = await createKeyhook({
    database: join(t.testdir(), 'shop.sqlite'),
    masterKey,
    logLevel: 'silent',
    baseUrl: 'http://127.0.0.1',
    eventTypes: ['order.paid'],
    scopes: { orders: ['read'] },
    families: [notes],
  })
  t.teardown(() => keyhook.stop())
  const account = keyhook.as('acct_1')
  const page = async (path: string): Promise<string> =>
    (await keyhook.fetch(new Request(`http://127.0.0.1${path}`))).text()
  const { data: types } = await account.events.listTypes()
  t.strictSame(
    types.map(({ type }) => type),
    ['note.created', 'order.paid', 'webhook.disabled', 'webhook.failing', 'webhook.test'],
  )
  const shown = await account.discovery.show()
  const families = ['keys', 'webhooks', 'events', 'discovery', 'billing', 'notes', 'orders']
  t.strictSame(
    [...new Set(shown.scopes.map((scope) => scope.replace(/:.*/, '')))].sort(),
    families.sort(),
  )
  for (const name of PLATFORM) {
    t.notOk(name in account, `no client of ${name}`)
    t.notOk(
      shown.families.some((family) => family.name === name),
      `no family ${name}`,
    )
    await t.rejects(account.keys.create({ name: 'k', scopes: [`${name}:read`] }), {
      code: 'invalid_scope',
    })
  }
  const document = JSON.parse(await page('/v1/openapi.json')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly tags: string[] }>>>>
  }
  const tags = Object.values(document.paths).flatMap((item) =>
    Object.values(item).flatMap((one) => one.tags),
  )
  t.strictSame([...new Set(tags)].sort(), [
    'audit',
    'billing',
    'discovery',
    'events',
    'keys',
    'notes',
    'portal',
    'seals',
    'sending',
    'webhooks',
  ])
  t.match(await page('/v1/apps'), /"route_not_found"/)
  t.notMatch(await page('/v1/apps'), /daemon/)
})

await t.test('an embedder has users and operators of its own', async (t) => {
  for (const name of ['accounts', 'operator']) {
    const families = [name] as unknown as readonly 'apps'[]
    await t.rejects(
      createKeyhook({ database: join(t.testdir(), 's.sqlite'), masterKey, families }),
      {
        name: 'TypeError',
        message: /families\[0\] must be apps, /,
      },
    )
  }
})

for (const dialect of ['sqlite', 'postgres'] as const) {
  await t.test(`an embedder serves the platform that it names, over ${dialect}`, async (t) => {
    const keyhook = await createKeyhook({
      database:
        dialect === 'sqlite' ? join(t.testdir(), 'p.sqlite') : await postgres.createDatabase(),
      masterKey,
      logLevel: 'silent',
      baseUrl: 'http://127.0.0.1',
      appsPort: 0,
      families: ['apps', 'edits', 'files', 'deploy'],
    })
    t.teardown(() => keyhook.stop())
    const { apps, edits, files, deploy, events } = keyhook.as('acct_1')
    const app = await apps.create({ template_id: 'blank' })
    const app_id = app.id
    const edit = await edits.create({
      app_id,
      base_revision: 1,
      operations: [{ op: 'write', path: 'index.html', content: '<h1>Open</h1>' }],
    })
    t.equal(edit.status, 'completed')
    const [file] = (await files.upload({ app_id, file: [new File(['# Hours'], 'hours.md')] })).data
    await until('the file is processed', async () => {
      const { status } = await files.get({ app_id, file_id: file?.id ?? '' })
      return status === 'processed'
    })
    await deploy.publish({ app_id })
    await until('the app is live', async () =>
      (await events.list()).data.some(({ type }) => type === 'app.deployed'),
    )
    const url = (await apps.get({ app_id })).production_url ?? ''
    const { port, hostname } = new URL(url)
    const body = await new Promise<string>((resolve, reject) => {
      httpGet({ port, host: '127.0.0.1', headers: { host: `${hostname}:${port}` } }, (response) => {
        response.toArray().then((parts) => resolve(parts.join('')), reject)
      }).on('error', reject)
    })
    t.match(body, /<h1>Open<\/h1>/)
    t.notOk('settings' in keyhook.as('acct_1'), 'and no more')
  })
}

await t.test('a family of the platform without those that it needs is refused', async (t) => {
  const given = { dataDir: t.testdir(), masterKey, logLevel: 'silent' }
  await t.rejects(createKeyhook({ ...given, families: ['edits'] }), {
    message: 'the family edits needs apps, which is not served',
  })
  await t.rejects(createKeyhook({ ...given, families: [notes], llmModel: 'm' }), {
    message:
      /options\.llmModel has no effect when embedded: options\.families names no family that has apps/,
  })
})
