import type { Knex } from 'knex'
import pg from 'pg'
import type { Keyhook } from '../../daemon/embed/index.ts'

/** An open library of a backend. */
export interface OpenLibrary {
  /** What `createKeyhook` is given. */
  readonly database: unknown
  /**
   * Inserts an order in a transaction of the library and calls `work` with what the library passes to its
   * callback. Rejects, having rolled back, when `work` rejects.
   */
  order(
    keyhook: Keyhook,
    number: string,
    work: (transaction: object) => Promise<void>,
  ): Promise<void>
  close(): Promise<void>
}

interface Library {
  readonly dialect: 'sqlite' | 'postgres'
  /** @param location a PostgreSQL address, or the path of a SQLite file */
  open(location: string): Promise<OpenLibrary>
}

const INSERT = 'INSERT INTO orders (number) VALUES'

/** The parts of the address of a test's server, which listens on a Unix socket. */
function partsOf(location: string): { host: string; user: string; name: string } {
  const { searchParams, hostname, username, pathname } = new URL(location)
  return { host: searchParams.get('host') ?? hostname, user: username, name: pathname.slice(1) }
}

function poolAt(location: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: location, max: 4 })
  pool.on('error', () => undefined)
  return pool
}

/** Every library whose transactions are accepted, by name; loaded when it is opened. */
export const LIBRARIES = {
  pg: {
    dialect: 'postgres',
    async open(location) {
      const pool = poolAt(location)
      return {
        database: pool,
        order: (keyhook, number, work) =>
          keyhook.transaction(async (client: pg.PoolClient) => {
            await client.query(`${INSERT} ($1)`, [number])
            await work(client)
          }),
        close: () => pool.end(),
      }
    },
  },
  sequelize: {
    dialect: 'postgres',
    async open(location) {
      const { Sequelize } = await import('sequelize')
      const sequelize = new Sequelize(location, { logging: false })
      return {
        database: sequelize,
        order: (_, number, work) =>
          sequelize.transaction(async (transaction) => {
            await sequelize.query(`${INSERT} (?)`, { replacements: [number], transaction })
            await work(transaction)
          }),
        close: () => sequelize.close(),
      }
    },
  },
  drizzle: {
    dialect: 'postgres',
    async open(location) {
      const { drizzle } = await import('drizzle-orm/node-postgres')
      const { sql } = await import('drizzle-orm')
      const pool = poolAt(location)
      const db = drizzle(pool)
      return {
        database: location,
        order: (_, number, work) =>
          db.transaction(async (tx) => {
            await tx.execute(sql`INSERT INTO orders (number) VALUES (${number})`)
            await work(tx)
          }),
        close: () => pool.end(),
      }
    },
  },
  kysely: {
    dialect: 'postgres',
    async open(location) {
      const { Kysely, PostgresDialect } = await import('kysely')
      const pool = poolAt(location)
      const db = new Kysely<{ orders: { number: string } }>({
        dialect: new PostgresDialect({ pool }),
      })
      return {
        database: location,
        order: (_, number, work) =>
          db.transaction().execute(async (trx) => {
            await trx.insertInto('orders').values({ number }).execute()
            await work(trx)
          }),
        close: () => db.destroy(),
      }
    },
  },
  knex: {
    dialect: 'postgres',
    async open(location) {
      const { default: knex } = await import('knex')
      const { host, user, name } = partsOf(location)
      const db = knex({
        client: 'pg',
        connection: { host, user, database: name },
        pool: { min: 0, max: 4 },
      })
      return {
        database: location,
        order: (_, number, work) =>
          db.transaction(async (trx) => {
            await trx('orders').insert({ number })
            await work(trx)
          }),
        close: () => db.destroy(),
      }
    },
  },
  typeorm: {
    dialect: 'postgres',
    async open(location) {
      const { DataSource } = await import('typeorm')
      const { host, user, name } = partsOf(location)
      const source = new DataSource({ type: 'postgres', host, username: user, database: name })
      await source.initialize()
      return {
        database: location,
        order: (_, number, work) =>
          source.transaction(async (manager) => {
            await manager.query(`${INSERT} ($1)`, [number])
            await work(manager)
          }),
        close: () => source.destroy(),
      }
    },
  },
  'mikro-orm': {
    dialect: 'postgres',
    async open(location) {
      const { EntitySchema, MikroORM } = await import('@mikro-orm/postgresql')
      const Order = new EntitySchema<{ number: string }>({
        name: 'Order',
        tableName: 'orders',
        properties: { number: { type: 'text', primary: true } },
      })
      const { host, user, name } = partsOf(location)
      const orm = await MikroORM.init({
        entities: [Order],
        host,
        user,
        dbName: name,
        metadataCache: { enabled: false },
        pool: { min: 0, max: 4 },
      })
      return {
        database: location,
        order: (_, number, work) =>
          orm.em.fork().transactional(async (em) => {
            em.create(Order, { number })
            await work(em)
          }),
        close: () => orm.close(),
      }
    },
  },
  'sequelize-sqlite': {
    dialect: 'sqlite',
    async open(location) {
      const { Sequelize } = await import('sequelize')
      const sequelize = new Sequelize({ dialect: 'sqlite', storage: location, logging: false })
      return {
        database: sequelize,
        order: (keyhook, number, work) =>
          keyhook.transaction(async (transaction: never) => {
            await sequelize.query(`${INSERT} (?)`, { replacements: [number], transaction })
            await work(transaction)
          }),
        close: () => sequelize.close(),
      }
    },
  },
  'knex-sqlite': {
    dialect: 'sqlite',
    async open(location) {
      const { default: knex } = await import('knex')
      const db = knex({
        client: 'sqlite3',
        connection: { filename: location },
        useNullAsDefault: true,
      })
      return {
        database: db,
        order: (keyhook, number, work) =>
          keyhook.transaction(async (trx: Knex.Transaction) => {
            await trx('orders').insert({ number })
            await work(trx)
          }),
        close: () => db.destroy(),
      }
    },
  },
} as const satisfies Readonly<Record<string, Library>>
