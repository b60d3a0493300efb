import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { SequelizeLike, Turns } from '../../plugins/registry.ts'
import { createTurns, isSequelize, untilAged } from '../../plugins/registry.ts'
import type { PlatformStore, PlatformTx } from '../../plugins/platform/contract.ts'
import type { JoinedUnit } from '../../plugins/store/contract.ts'

/** Transactions in which rows of the embedder, events and charges of Keyhook commit together. */
export interface Transactions {
  /**
   * Runs `work` in a transaction and commits it, or rolls back when it rejects.
   *
   * @param work receives a Sequelize transaction or a client of the pool; with a file of Keyhook's own, a
   *   token to pass on
   */
  run<T>(work: (transaction: never) => Promise<T>): Promise<T>
  /**
   * Runs a call in a transaction, after those that were made in it before: their statements must not mix.
   *
   * @throws TypeError for anything but an open transaction of this database, and over SQLite for one that
   *   `run` did not open
   */
  inside<T>(transaction: unknown, call: (tx: PlatformTx) => Promise<T>): Promise<T>
}

type Unit = JoinedUnit<PlatformTx>

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

  function join(transaction: object): Unit {
    if (store.join === undefined) throw new TypeError('this store joins no transactions')
    return store.join(transaction)
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

  async function inSequelize<T>(
    sequelize: SequelizeLike,
    work: (transaction: object) => Promise<T>,
  ): Promise<T> {
    let unit: Unit | undefined
    const result = await sequelize.transaction({ type: 'IMMEDIATE' }, async (transaction) => {
      unit = join(transaction)
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
      const unit = join(client)
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
    if (!isSequelize(database)) return inOwn(work)
    if (store.hold === undefined) return inSequelize(database, work)
    // Other writes continue once it is too old: it must roll back at once, whatever the work waits for.
    return store.hold(
      (aged) => inSequelize(database, (transaction) => orAborted(work(transaction), aged)),
      { maxAge: MAX_AGE },
    )
  }

  function unitOf(transaction: object): PlatformTx {
    const opened = units.get(transaction)
    if (opened !== undefined) return opened.tx
    // Without notifications of the store, no other process learns of the commit.
    if (store.watch === undefined) {
      throw new TypeError('over SQLite, transaction must be one of keyhook.transaction()')
    }
    return join(transaction).tx
  }

  return {
    run: run as Transactions['run'],
    async inside(transaction, call) {
      if (typeof transaction !== 'object' || transaction === null) {
        throw new TypeError('transaction must be a transaction that is open')
      }
      return turnsOf(transaction).take(async () => call(unitOf(transaction)))
    },
  }
}

function isPool(database: unknown): database is PoolLike {
  return typeof database === 'object' && database !== null && 'connect' in database
}
