import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Turns } from '../../plugins/registry.ts'
import {
  createTurns,
  isSequelize,
  joinable,
  runInKnex,
  sqliteFileOfKnex,
  untilAged,
} from '../../plugins/registry.ts'
import type { PlatformStore, PlatformTx } from '../../plugins/platform/contract.ts'
import type { JoinedUnit } from '../../plugins/store/contract.ts'

/** Transactions in which rows of the embedder, events and charges of Keyhook commit together. */
export interface Transactions {
  /**
   * Runs `work` in a transaction and commits it, or rolls back when it rejects.
   *
   * @param work receives a transaction of Sequelize or Knex, or a client of the pool; with a file of
   *   Keyhook's own, a token to pass on
   */
  run<T>(work: (transaction: never) => Promise<T>): Promise<T>
  /**
   * Runs a call in a transaction, after those that were made in it before: their statements must not mix.
   *
   * @param transaction as the library passes it to a callback: a client of pg, or one of Sequelize, Drizzle,
   *   Kysely, Knex, TypeORM or MikroORM
   * @throws TypeError for anything but an open transaction of this database, and over SQLite for one that
   *   `run` did not open
   */
  inside<T>(transaction: unknown, call: (tx: PlatformTx) => Promise<T>): Promise<T>
}

type Unit = JoinedUnit<PlatformTx>

type Begin = <T>(work: (transaction: object) => Promise<T>) => Promise<T>

/** The part of a pg pool that is used. */
interface PoolLike {
  connect(): Promise<PoolClientLike>
}

interface PoolClientLike {
  /** Returns the command tag. */
  query(sql: string): Promise<{ readonly command: string }>
  on(event: 'error', listener: (cause: Error) => void): unknown
  off(event: 'error', listener: (cause: Error) => void): unknown
  release(cause?: Error): void
}

/** How long an embedder may hold the only writer of a SQLite file. */
const MAX_AGE: Millis = 10 * SECOND

/**
 * @param database the embedder's database: a Sequelize instance, a pg pool, or an address
 */
export function createTransactions(store: PlatformStore, database: unknown): Transactions {
  /** Units of transactions begun here: they notify workers after the commit. */
  const units = new WeakMap<object, Unit>()
  const turns = new WeakMap<object, Turns>()

  async function join(transaction: object): Promise<Unit> {
    if (store.join === undefined) throw new TypeError('this store joins no transactions')
    return store.join(await joinable(transaction))
  }

  function turnsOf(transaction: object): Turns {
    const own = turns.get(transaction) ?? createTurns()
    turns.set(transaction, own)
    return own
  }

  /**
   * A pool reuses its clients: a joined unit ends with the work. Calls that the work did not await end before
   * the transaction does.
   */
  async function within<T>(
    transaction: object,
    unit: Unit,
    work: (transaction: object) => Promise<T>,
  ): Promise<T> {
    units.set(transaction, unit)
    try {
      return await work(transaction)
    } finally {
      await turnsOf(transaction).idle()
      units.delete(transaction)
    }
  }

  /** @param begin begins a transaction of a library, and commits it unless its work rejects */
  async function inLibrary<T>(begin: Begin, work: (transaction: object) => Promise<T>): Promise<T> {
    let unit: Unit | undefined
    const result = await begin(async (transaction) => {
      unit = await join(transaction)
      return within(transaction, unit, work)
    })
    unit?.committed()
    return result
  }

  async function inPool<T>(pool: PoolLike, work: (client: object) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    let broken: Error | undefined
    // A connection may break while idle; without a listener, that would end the process.
    const note = (cause: Error): void => {
      broken = cause
    }
    client.on('error', note)
    try {
      await client.query('BEGIN')
      const unit = await join(client)
      const result = await within(client, unit, work)
      const { command } = await client.query('COMMIT')
      // After a failed statement, COMMIT rolls back without an error.
      if (command !== 'COMMIT') throw new Error('rolled back, since a statement had failed')
      unit.committed()
      return result
    } catch (cause) {
      await client.query('ROLLBACK').catch(note)
      throw cause
    } finally {
      client.off('error', note)
      client.release(broken)
    }
  }

  /** Prevents a deadlock with itself, such as a publish outside the transaction that waits for the writer. */
  async function inOwn<T>(work: (transaction: object) => Promise<T>): Promise<T> {
    return store.write((tx) =>
      untilAged(() => within({}, { tx, committed: () => undefined }, work), MAX_AGE),
    )
  }

  function run<T>(work: (transaction: object) => Promise<T>): Promise<T> {
    if (isPool(database)) return inPool(database, work)
    const begin = beginnerOf(database)
    if (begin === undefined) return inOwn(work)
    if (store.hold === undefined) return inLibrary(begin, work)
    // Other writes continue once it is too old: it must roll back at once, whatever the work waits for.
    return store.hold(
      (aged) => inLibrary(begin, (transaction) => orAborted(work(transaction), aged)),
      { maxAge: MAX_AGE },
    )
  }

  async function unitOf(transaction: object): Promise<PlatformTx> {
    const opened = units.get(transaction)
    if (opened !== undefined) return opened.tx
    // Without notifications of the store, no other process learns of the commit.
    if (store.watch === undefined) {
      throw new TypeError('over SQLite, transaction must be one of keyhook.transaction()')
    }
    return (await join(transaction)).tx
  }

  return {
    run: run as Transactions['run'],
    async inside(transaction, call) {
      const isTransaction = typeof transaction === 'object' || typeof transaction === 'function'
      if (!isTransaction || transaction === null) {
        throw new TypeError('transaction must be a transaction that is open')
      }
      return turnsOf(transaction).take(async () => call(await unitOf(transaction)))
    },
  }
}

/** Undefined where Keyhook begins the transaction itself. */
function beginnerOf(database: unknown): Begin | undefined {
  if (isSequelize(database)) return (work) => database.transaction({ type: 'IMMEDIATE' }, work)
  if (sqliteFileOfKnex(database) === undefined) return undefined
  return (work) => runInKnex(database, work)
}

function isPool(database: unknown): database is PoolLike {
  return typeof database === 'object' && database !== null && 'connect' in database
}
