import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { QueryTypes, Sequelize } from 'sequelize'
import type { Test } from 'tap'
import type { Keyhook, KeyhookOptions } from '../../daemon/embed/index.ts'
import { createKeyhook } from '../../daemon/embed/index.ts'
import type { PostgresServer } from './postgres.ts'
import { poolOn, sequelizeOn } from './postgres-clients.ts'

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

export const ACCOUNT = 'acct_1'
export const REPORT = { account_id: ACCOUNT, operation: 'reports.create' }
export const SHORT = { code: 'insufficient_balance', status: 402 }
const CREATE = 'CREATE TABLE reports (id VARCHAR(64) PRIMARY KEY)'

type Work<T> = (transaction: object) => Promise<T>

/** One database of an embedder, and how its transactions are begun. */
export interface Shop {
  readonly keyhook: Keyhook
  /** By Keyhook, and where it may be so, by the embedder. */
  readonly begins: Readonly<Record<string, <T>(work: Work<T>) => Promise<T>>>
  /** Undefined where the embedder has no tables. */
  readonly sql?: ((sql: string, transaction?: object) => Promise<readonly object[]>) | undefined
  /** A transaction that cannot be joined, with what is said of it. */
  readonly wrong: Readonly<Record<string, (use: Work<unknown>) => Promise<unknown>>>
}

async function settingsIn(folder: string): Promise<KeyhookOptions> {
  const prices = join(folder, 'prices.json')
  await writeFile(prices, JSON.stringify(PRICES))
  const masterKey = `k1:${Buffer.alloc(32, 1).toString('base64')}`
  return { billing: 'internal', prices, masterKey, logLevel: 'silent', dispatch: false }
}

/**
 * Keyhook of an embedder who sells reports.
 *
 * @param options default: a file of its own
 */
export async function openKeyhook(
  t: Test,
  folder: string,
  options?: KeyhookOptions,
): Promise<Keyhook> {
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

export const SHOPS: Readonly<
  Record<string, (t: Test, postgres: Pick<PostgresServer, 'createDatabase'>) => Promise<Shop>>
> = {
  async 'a file of its own'(t) {
    const keyhook = await openKeyhook(t, t.testdir())
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
    const keyhook = await openKeyhook(t, folder, { database: sequelize })
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
  async 'Sequelize on PostgreSQL'(t, postgres) {
    const sequelize = sequelizeOn(t, await postgres.createDatabase())
    await sequelize.query(CREATE)
    const keyhook = await openKeyhook(t, t.testdir(), { database: sequelize })
    return {
      ...overSequelize(keyhook, sequelize),
      begins: {
        'keyhook.transaction': byKeyhook(keyhook),
        'sequelize.transaction': (work) => sequelize.transaction(work),
      },
    }
  },
  async 'a pool of pg'(t, postgres) {
    const pool = poolOn(t, await postgres.createDatabase())
    await pool.query(CREATE)
    const keyhook = await openKeyhook(t, t.testdir(), { database: pool })
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
