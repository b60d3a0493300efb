import pg from 'pg'
import { Sequelize } from 'sequelize'
import type { Test } from 'tap'
import type { Store } from '../../plugins/store/contract.ts'
import type { OpenTransaction } from '../../plugins/store/conformance.ts'
import { openStore } from '../../plugins/store/open.ts'

/** An embedder's own pool, ended after the test. */
export function poolOn(t: Test, url: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, ...options })
  pool.on('error', () => undefined)
  t.teardown(() => pool.end())
  return pool
}

/** An embedder's own Sequelize, closed after the test. */
export function sequelizeOn(t: Test, url: string, most = 10): Sequelize {
  const sequelize = new Sequelize(url, {
    dialect: 'postgres',
    dialectModule: pg,
    logging: false,
    pool: { max: most },
  })
  t.teardown(() => sequelize.close())
  return sequelize
}

export async function openOn(t: Test, database: unknown, tablePrefix = ''): Promise<Store> {
  const { store } = await openStore(database, { tablePrefix })
  t.teardown(() => store.close())
  return store
}

/** A transaction on a connection of a pool. */
export async function beginOn(pool: pg.Pool): Promise<OpenTransaction> {
  const client = await pool.connect()
  await client.query('BEGIN')
  const endWith = (statement: string) => async () => {
    await client.query(statement)
    client.release()
  }
  return { handle: client, commit: endWith('COMMIT'), rollback: endWith('ROLLBACK') }
}

/** Resolves at the next call of a store's watch. */
export function nextNews(store: Store): Promise<readonly string[] | undefined> {
  return new Promise((resolve) => {
    const end = store.watch?.((webhookIds) => {
      end?.()
      resolve(webhookIds)
    })
  })
}
