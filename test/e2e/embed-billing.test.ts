import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type pg from 'pg'
import { QueryTypes, Sequelize } from 'sequelize'
import type { Test } from 'tap'
import t from 'tap'
import type { Keyhook, KeyhookOptions } from '../../daemon/embed/index.ts'
import { createKeyhook } from '../../daemon/embed/index.ts'
import { receiveEvent } from '../../daemon/billing/payments/intake.ts'
import type { MemoryProcessor } from '../../plugins/billing/memory.ts'
import { until } from '../support/daemon.ts'
import { poolOn, sequelizeOn } from '../support/postgres-clients.ts'
import { startPostgres } from '../support/postgres.ts'

/** What an embedder declares: none of the operations of apps. */
const PRICES = {
  versions: [
    {
      version: '1',
      effective_at: '2026-01-01T00:00:00Z',
      plans: { pro: { price_micros: 0, monthly_credit_micros: 0 } },
      topup: { min_micros: 1, max_micros: 1_000_000 },
      operations: {
        'reports.create': { meter: 'reports', price_micros: 100, per: 1 },
        'reports.read': { meter: 'reports', price_micros: 0, per: 1 },
      },
    },
  ],
}

const ACCOUNT = 'acct_1'
const REPORT = { account_id: ACCOUNT, operation: 'reports.create' }
const SHORT = { code: 'insufficient_balance', status: 402 }
const CREATE = 'CREATE TABLE reports (id VARCHAR(64) PRIMARY KEY)'

type Work<T> = (transaction: object) => Promise<T>

/** One database of an embedder, and how its transactions are begun. */
interface Shop {
  readonly keyhook: Keyhook
  /** By Keyhook, and where it may be so, by the embedder. */
  readonly begins: Readonly<Record<string, <T>(work: Work<T>) => Promise<T>>>
  /** Undefined where the embedder has no tables. */
  readonly sql?: ((sql: string, transaction?: object) => Promise<readonly object[]>) | undefined
  /** A transaction that cannot be joined, with what is said of it. */
  readonly wrong: Readonly<Record<string, (use: Work<unknown>) => Promise<unknown>>>
}

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

async function settingsIn(folder: string): Promise<KeyhookOptions> {
  const prices = join(folder, 'prices.json')
  await writeFile(prices, JSON.stringify(PRICES))
  const masterKey = `k1:${Buffer.alloc(32, 1).toString('base64')}`
  return { billing: 'internal', prices, masterKey, logLevel: 'silent', dispatch: false }
}

/** @param options default: a file of its own */
async function open(t: Test, folder: string, options?: KeyhookOptions): Promise<Keyhook> {
  const database = options?.database === undefined ? { dataDir: join(folder, 'data') } : {}
  const keyhook = await createKeyhook({ ...(await settingsIn(folder)), ...database, ...options })
  t.teardown(() => keyhook.stop())
  return keyhook
}

const byKeyhook =
  (keyhook: Keyhook) =>
  <T>(work: Work<T>): Promise<T> =>
    keyhook.transaction((transaction) => work(transaction))

function overSequelize(keyhook: Keyhook, sequelize: Sequelize): Omit<Shop, 'begins'> {
  return {
    keyhook,
    sql: async (sql, transaction) => {
      const type = sql.startsWith('SELECT') ? QueryTypes.SELECT : QueryTypes.RAW
      const found = await sequelize.query(sql, { type, ...(transaction && { transaction }) } as {
        type: QueryTypes.SELECT
      })
      return found as readonly object[]
    },
    wrong: {
      async 'has ended'(use) {
        const transaction = await sequelize.transaction()
        await transaction.commit()
        await use(transaction)
      },
    },
  }
}

const SHOPS: Readonly<Record<string, (t: Test) => Promise<Shop>>> = {
  async 'a file of its own'(t) {
    const keyhook = await open(t, t.testdir())
    return {
      keyhook,
      begins: { 'keyhook.transaction': byKeyhook(keyhook) },
      wrong: { 'is another object': (use) => use({}) },
    }
  },
  async 'Sequelize on SQLite'(t) {
    const folder = t.testdir()
    const storage = join(folder, 'shop.sqlite')
    const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false })
    t.teardown(() => sequelize.close())
    await sequelize.query(CREATE)
    const keyhook = await open(t, folder, { database: sequelize })
    const shop = overSequelize(keyhook, sequelize)
    return {
      ...shop,
      begins: { 'keyhook.transaction': byKeyhook(keyhook) },
      wrong: {
        ...shop.wrong,
        'is not of keyhook.transaction': (use) => sequelize.transaction(use),
      },
    }
  },
  async 'Sequelize on PostgreSQL'(t) {
    const sequelize = sequelizeOn(t, await postgres.createDatabase())
    await sequelize.query(CREATE)
    const keyhook = await open(t, t.testdir(), { database: sequelize })
    return {
      ...overSequelize(keyhook, sequelize),
      begins: {
        'keyhook.transaction': byKeyhook(keyhook),
        'sequelize.transaction': (work) => sequelize.transaction(work),
      },
    }
  },
  async 'a pool of pg'(t) {
    const pool = poolOn(t, await postgres.createDatabase())
    await pool.query(CREATE)
    const keyhook = await open(t, t.testdir(), { database: pool })
    return {
      keyhook,
      begins: {
        'keyhook.transaction': byKeyhook(keyhook),
        'a client': async (work) => {
          const client = await pool.connect()
          try {
            await client.query('BEGIN')
            const result = await work(client)
            await client.query('COMMIT')
            return result
          } catch (cause) {
            await client.query('ROLLBACK')
            throw cause
          } finally {
            client.release()
          }
        },
      },
      async sql(sql, transaction) {
        const { rows } = await ((transaction as pg.PoolClient | undefined) ?? pool).query(sql)
        return rows as object[]
      },
      wrong: {
        async 'is in no transaction'(use) {
          const client = await pool.connect()
          await use(client).finally(() => {
            client.release()
          })
        },
      },
    }
  },
}

for (const [name, openShop] of Object.entries(SHOPS)) {
  await t.test(name, async (t) => {
    const shop = await openShop(t)
    const { keyhook, sql } = shop
    const { billing, platform } = keyhook
    const account = keyhook.as(ACCOUNT)
    await account.billing.grant({ amount_micros: 1000, note: 'welcome' })

    const money = async (): Promise<readonly number[]> => {
      const { balance_micros, held_micros } = await account.billing.wallet()
      return [balance_micros, held_micros]
    }
    const rows = async (): Promise<number> =>
      sql === undefined ? 0 : (await sql('SELECT id FROM reports')).length
    const insert = async (id: string, transaction: object): Promise<unknown> =>
      sql?.(`INSERT INTO reports VALUES ('${id}')`, transaction)
    const released = async (...ids: readonly string[]): Promise<void> => {
      for (const operation_id of ids) await billing.release({ account_id: ACCOUNT, operation_id })
    }

    for (const [how, begin] of Object.entries(shop.begins)) {
      await t.test(`in ${how}: a hold and a capture commit with rows`, async (t) => {
        const [balance = 0] = await money()
        const before = await rows()
        const work = { account_id: ACCOUNT, operation_id: how.replaceAll(' ', '_') }
        await begin(async (transaction) => {
          await insert(work.operation_id, transaction)
          await billing.hold({ ...work, operation: 'reports.create' }, { transaction })
          const quoted = await billing.quote(REPORT, { transaction })
          t.equal(quoted.available_micros, balance - 100, 'which it sees')
        })
        t.same(await money(), [balance, 100])
        t.equal(await rows(), sql === undefined ? 0 : before + 1)
        const captured = await begin((transaction) => billing.capture(work, { transaction }))
        t.same(captured, { captured_micros: 100 })
        t.same(await billing.capture(work), { captured_micros: 100 }, 'once')
        t.same(await money(), [balance - 100, 0])
      })

      await t.test(`in ${how}: neither is there after a rollback`, async (t) => {
        const kept = [...(await money()), await rows()]
        const rolledBack = begin(async (transaction) => {
          await insert('never', transaction)
          await billing.hold({ ...REPORT, operation_id: 'never' }, { transaction })
          throw new Error('the work threw')
        })
        await t.rejects(rolledBack, { message: 'the work threw' })
        t.same([...(await money()), await rows()], kept)
        t.same(
          await billing.capture({ account_id: ACCOUNT, operation_id: 'never' }),
          { captured_micros: 0 },
          'and costs nothing',
        )
      })

      await t.test(`in ${how}: rows that are kept after a refusal`, async (t) => {
        const [balance] = await money()
        const before = await rows()
        await begin(async (transaction) => {
          const beyond = { ...REPORT, operation_id: 'beyond', quantity: 100 }
          await Promise.all([
            t.rejects(billing.hold(beyond, { transaction }), SHORT),
            insert(`kept ${how}`, transaction),
          ])
        })
        t.same(await money(), [balance, 0])
        t.equal(await rows(), sql === undefined ? 0 : before + 1)
      })

      await t.test(`in ${how}: holds at once, of which one can be paid`, async (t) => {
        const [balance = 0] = await money()
        const each = { ...REPORT, quantity: balance / 100 }
        const hold = (operation_id: string, transaction: object): Promise<void> =>
          billing.hold({ ...each, operation_id }, { transaction })
        const apart = await Promise.allSettled(
          ['one', 'two', 'three', 'four'].map((id) => begin((one) => hold(id, one))),
        )
        t.same(fulfilled(apart), 1, 'in a transaction each')
        t.same(await money(), [balance, balance])
        await released('one', 'two', 'three', 'four')

        const together = await begin((one) =>
          Promise.allSettled(['five', 'six', 'seven'].map((id) => hold(id, one))),
        )
        t.same(fulfilled(together), 1, 'in one transaction')
        t.same(await money(), [balance, balance])
        await released('five', 'six', 'seven')
      })

      await t.test(`in ${how}: of a call that failed nothing is kept`, async (t) => {
        if (sql === undefined) return
        const kept = await money()
        const table = 'keyhook_hold_lots'
        await begin(async (transaction) => {
          await sql(`ALTER TABLE ${table} RENAME TO elsewhere`, transaction)
          const failed = billing.hold({ ...REPORT, operation_id: 'torn' }, { transaction })
          await t.rejects(failed, 'in the midst of it')
          await sql(`ALTER TABLE elsewhere RENAME TO ${table}`, transaction)
        })
        t.same(await money(), kept)
      })
    }

    await t.test('a call that was not awaited ends before its transaction', async (t) => {
      const kept = await money()
      const work = { ...REPORT, operation_id: 'forgotten' }
      await keyhook.transaction(async (transaction) => {
        void billing.hold(work, { transaction })
      })
      t.same(await money(), [kept[0], 100])
      await released(work.operation_id)
    })

    await t.test('what is no transaction of the database is refused', async (t) => {
      const kept = await money()
      const work = { ...REPORT, operation_id: 'wrong' }
      const refused = async (transaction: unknown): Promise<void> => {
        const options = { transaction } as { transaction: object }
        await t.rejects(billing.hold(work, options), { name: 'TypeError' })
        const ended = { account_id: ACCOUNT, operation_id: 'wrong' }
        await t.rejects(billing.capture(ended, options), { name: 'TypeError' })
        await t.rejects(billing.release(ended, options), { name: 'TypeError' })
      }
      for (const nothing of [undefined, null, 'BEGIN', []]) await refused(nothing)
      let over: object = {}
      await keyhook.transaction(async (transaction) => {
        over = transaction
      })
      await refused(over)
      for (const use of Object.values(shop.wrong)) await use(refused)
      t.same(await money(), kept)
    })

    await t.test('an event of a low balance commits with the hold that made it so', async (t) => {
      const [balance = 0] = await money()
      await account.billing.updateWallet({ low_balance_micros: balance })
      const told = async (): Promise<number> =>
        (await account.events.list({ type: 'billing.balance_low' })).data.length
      const hold = (operation_id: string) => (transaction: object) =>
        billing.hold({ ...REPORT, operation_id }, { transaction })
      const rolledBack = keyhook.transaction(async (transaction) => {
        await hold('low')(transaction)
        throw new Error('rolled back')
      })
      await t.rejects(rolledBack)
      t.equal(await told(), 0)
      await keyhook.transaction(hold('low'))
      t.equal(await told(), 1)
      await released('low')
    })

    await t.test('a key spends at most its budget', async (t) => {
      const scopes = ['keys:read']
      const given = { name: 'agent', scopes, monthly_budget_micros: 150 }
      const { id: key_id } = await account.keys.create(given)
      const hold = (operation_id: string) => billing.hold({ ...REPORT, operation_id, key_id })
      await hold('k1')
      t.match(await billing.quote({ ...REPORT, key_id }), { sufficient: false, source: 'key' })
      const details = { source: 'key', key_id, available_micros: 50 }
      await t.rejects(hold('k2'), { ...SHORT, details })
      const unknown = { code: 'key_not_found' }
      await t.rejects(billing.hold({ ...REPORT, operation_id: 'k2', key_id: 'k' }), unknown)
      await t.rejects(billing.quote({ ...REPORT, key_id: 'k' }), unknown)
      const other = { ...REPORT, account_id: 'acct_2', operation_id: 'k2', key_id }
      await t.rejects(billing.hold(other), unknown, 'a key of another account')
      await released('k1')
    })

    await t.test('the ledger agrees, and names the operation', async (t) => {
      t.same((await platform.store.ledger.verify(null)).differences, [])
      const { data } = await account.billing.usage({ group_by: 'operation' })
      const count = Object.keys(shop.begins).length
      t.match(data, [{ group: { operation: 'reports.create' }, count, quantity: count }])
    })
  })
}

function fulfilled(outcomes: readonly PromiseSettledResult<unknown>[]): number {
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected' && !isShort(outcome.reason)) throw outcome.reason as Error
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length
}

function isShort(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === SHORT.code
}

await t.test('arguments of charging', async (t) => {
  const { billing } = await open(t, t.testdir())
  type Loose = Readonly<
    Record<keyof typeof billing, (...args: readonly unknown[]) => Promise<unknown>>
  >
  const calls = billing as unknown as Loose
  const own = { account_id: ACCOUNT, operation_id: 'o_1' }
  const refused: readonly (readonly [keyof typeof billing, readonly unknown[], RegExp])[] = [
    ['hold', [], /work must be a plain object/],
    ['hold', [{ ...own, operation: 'reports.create', amount: 1 }], /unknown name amount/],
    ['hold', [{ ...own, operation: 'reports.create' }, { tx: {} }], /unknown name tx/],
    ['hold', [{ ...own, operation: 'reports.create' }, {}, {}], /takes \(work, options\)/],
    ['hold', [{ ...own }], /work\.operation must be/],
    ['hold', [{ ...own, operation: 'reports.crate' }], /Did you mean "reports.create"\?/],
    ['hold', [{ ...own, operation: 'constructor' }], /no operation "constructor"/],
    ['hold', [{ ...own, operation: 'reports.create', quantity: undefined }], /work\.quantity/],
    ['hold', [{ ...own, operation: 'reports.create', key_id: undefined }], /work\.key_id/],
    ...[0, -1, 0.5, 2 ** 53, '1'].map((quantity) => {
      const work = { ...own, operation: 'reports.create', quantity }
      return ['hold', [work], /work\.quantity must be a whole number, 1 or more/] as const
    }),
    ...[59, 604_801].map((lifetime_seconds) => {
      const work = { ...own, operation: 'reports.create', lifetime_seconds }
      return ['hold', [work], /lifetime_seconds must be a whole number of seconds/] as const
    }),
    ['hold', [{ ...own, account_id: 'a b', operation: 'reports.create' }], /work\.account_id/],
    ...['', 'a b', 'a\u0000', 'é', 'x'.repeat(129)].map((operation_id) => {
      const work = { ...own, operation_id, operation: 'reports.create' }
      return ['hold', [work], /work\.operation_id must be an id/] as const
    }),
    ['quote', [{ account_id: ACCOUNT, operation: 'reports' }], /no operation "reports"/],
    ['quote', [{ ...own, operation: 'reports.create' }], /unknown name operation_id/],
    ['capture', [{ ...own, operation: 'reports.create' }], /unknown name operation/],
    ['capture', [{ ...own, quantity: -1 }], /work\.quantity must be a whole number, 0 or more/],
    ['release', [{ ...own, quantity: 1 }], /unknown name quantity/],
    ['release', [{ account_id: ACCOUNT }], /work\.operation_id/],
  ]
  for (const [name, args, message] of refused) {
    await t.rejects(calls[name](...args), { name: 'TypeError', message }, String(message))
  }
})

await t.test('a hold ends once, at the price at which it was held', async (t) => {
  const keyhook = await open(t, t.testdir())
  const { billing } = keyhook
  const account = keyhook.as(ACCOUNT)
  const work = { account_id: ACCOUNT, operation_id: 'r_1' }
  const three = { ...work, operation: 'reports.create', quantity: 3 }
  t.match(await billing.quote({ ...REPORT, quantity: 3 }), {
    meter: 'reports',
    required_micros: 300,
    available_micros: 0,
    sufficient: false,
    source: 'wallet',
  })
  await t.rejects(billing.hold(three), {
    ...SHORT,
    details: { operation: 'reports.create', required_micros: 300, available_micros: 0 },
  })
  await account.billing.grant({ amount_micros: 1000 })
  await billing.hold(three)
  await billing.hold(three)
  t.equal((await account.billing.wallet()).held_micros, 300, 'held once')
  t.same(await billing.capture({ ...work, quantity: 2 }), { captured_micros: 200 })
  await billing.release(work)
  await billing.hold(three)
  t.match(await account.billing.wallet(), { balance_micros: 800, held_micros: 0 })

  await billing.hold({ ...three, operation_id: 'r_2' })
  await billing.release({ account_id: ACCOUNT, operation_id: 'r_2' })
  t.same(await billing.capture({ account_id: ACCOUNT, operation_id: 'r_2' }), {
    captured_micros: 0,
  })
  await billing.hold({ ...REPORT, operation_id: 'r_3', operation: 'reports.read', quantity: 9 })
  t.same(await billing.capture({ account_id: ACCOUNT, operation_id: 'r_3' }), {
    captured_micros: 0,
  })
  t.match(await account.billing.wallet(), { balance_micros: 800, held_micros: 0 })

  const before = Date.now()
  await billing.hold({ ...three, operation_id: 'r_4', lifetime_seconds: 60 })
  const held = await keyhook.platform.store.ledger.getHold({ ...work, operation_id: 'r_4' })
  const lasts = (held?.deadline_at ?? 0) - before
  t.ok(lasts >= 60_000 && lasts <= 60_000 + (Date.now() - before))
})

await t.test(
  'without billing everything is free, and a misspelt operation still is none',
  async (t) => {
    const keyhook = await open(t, t.testdir(), { billing: 'none' })
    const { billing } = keyhook
    const work = { account_id: ACCOUNT, operation_id: 'r_1' }
    await keyhook.transaction((transaction) =>
      billing.hold({ ...work, operation: 'reports.create' }, { transaction }),
    )
    t.same(await billing.capture(work), { captured_micros: 0 })
    await billing.release(work)
    t.match(await billing.quote(REPORT), { required_micros: 0, available_micros: null })
    const misspelt = billing.hold({ ...work, operation: 'reports.crate' })
    await t.rejects(misspelt, { name: 'TypeError' })
  },
)

/** A module that an embedder names, over the processor in memory. */
const PROCESSOR = `
  import { createMemoryProcessor } from ${JSON.stringify(
    new URL('../../plugins/billing/memory.js', import.meta.url).href,
  )}
  export let memory
  export const paymentProcessor = {
    name: 'memory',
    settings: [],
    origins: () => [],
    open: async ({ clock }) => (memory = createMemoryProcessor({ clock })),
  }
`

await t.test('where a processor sells the plan, it follows the subscription', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'processor.mjs')
  await writeFile(file, PROCESSOR)
  const keyhook = await open(t, folder, { billing: file })
  const account = keyhook.as(ACCOUNT)
  const plan = async (): Promise<string> => (await account.billing.wallet()).plan
  t.equal(await plan(), 'free', 'also without a record of the account')
  t.match(await keyhook.accounts.update(ACCOUNT, { key_limit: 5 }), { plan: 'free' })
  await t.rejects(keyhook.accounts.update(ACCOUNT, { plan: 'pro' }), {
    status: 409,
    code: 'plan_managed',
  })

  const other = keyhook.as('acct_2')
  const { session_id } = await other.billing.subscribe({ plan: 'pro' })
  const { memory } = (await import(pathToFileURL(file).href)) as { memory: MemoryProcessor }
  await memory.till.pay(session_id)
  const { processing } = keyhook.platform.billing
  for (const event of await memory.till.take()) {
    if (processing !== undefined) await receiveEvent(keyhook.platform, processing, event)
  }
  const subscribed = async (): Promise<boolean> => (await other.billing.wallet()).plan === 'pro'
  await until('the subscription is applied, although nothing is dispatched', subscribed)
  const { data } = await other.events.list({ type: 'billing.subscription_changed' })
  t.match(data, [{ data: { plan: 'pro', previous_plan: 'free' } }])
})

await t.test('the plan of an account is set in code', async (t) => {
  const keyhook = await open(t, t.testdir())
  const account = keyhook.as(ACCOUNT)
  const mint = () => account.keys.create({ name: 'CI', scopes: ['keys:read'] })
  const { update } = keyhook.accounts
  t.same(await update(ACCOUNT, { key_limit: 5 }), { id: ACCOUNT, key_limit: 5, plan: 'pro' })
  await mint()
  t.same(await update(ACCOUNT, { plan: 'free' }), { id: ACCOUNT, key_limit: 5, plan: 'free' })
  await t.rejects(mint(), { status: 403, code: 'dev_api_not_enabled' })
  t.same(await update('acct_2', { plan: 'free' }), { id: 'acct_2', key_limit: null, plan: 'free' })
  const changes = { key_limit: null, plan: 'pro' } as const
  t.same(await update(ACCOUNT, changes), { id: ACCOUNT, ...changes })
  await mint()
  const { data } = await account.audit.list({ action: 'account.plan_changed' })
  t.equal(data.length, 2)
  const loose = update as (...args: readonly unknown[]) => Promise<unknown>
  for (const wrong of [{}, undefined, { plan: 'gold' }, { plan: undefined }, { plans: 'pro' }]) {
    await t.rejects(loose(ACCOUNT, wrong), { name: 'TypeError' })
  }
})
