import { kernelError } from '../../../../lib/errors.ts'
import type { SqliteConnection, SqliteStatement } from '../../../sqlite/open.ts'
import type { Query } from '../client.ts'
import type { StatementLimiter } from './reads.ts'
import { numbered, queryOn, reasoned } from './statement.ts'

/** Maximum prepared texts; any further text is prepared each time. */
const MAX_PREPARED = 512
/** Texts that were used once, before all of that is forgotten: those of migrations never come again. */
const MAX_SEEN = 2048

/** Prepared statements on the driver's handle. */
export interface Prepared {
  readonly query: Query
  finalize(): Promise<void>
}

/**
 * Keeps a statement prepared from its second use on: preparing it takes several times as long as running
 * it, and each await costs a turn of the event loop.
 *
 * @param limit where statements wait until they are handed to the driver, in their order. A connection runs
 *   one at a time, and each other one blocks a thread of libuv's pool until its turn
 */
export function preparedOn(connection: SqliteConnection, limit: StatementLimiter): Prepared {
  const texts = new Map<string, Copies>()
  const seen = new Set<string>()
  const once = queryOn(connection)
  let isFinalized = false

  function copiesOf(sql: string): Copies | undefined {
    const known = texts.get(sql)
    if (known !== undefined || texts.size >= MAX_PREPARED) return known
    if (seen.delete(sql)) {
      const copies = new Copies(connection, sql)
      texts.set(sql, copies)
      return copies
    }
    if (seen.size >= MAX_SEEN) seen.clear()
    seen.add(sql)
    return undefined
  }

  async function run<Row extends object>(sql: string, bind: readonly unknown[]): Promise<Row[]> {
    const copies = copiesOf(sql)
    if (copies === undefined) return once<Row>(sql, bind)
    const statement = copies.free() ?? (await copies.prepare())
    try {
      return await reasoned(statement.all<Row>(bind))
    } finally {
      copies.giveBack(statement)
    }
  }

  return {
    async query<Row extends object>(sql: string, bind: readonly unknown[] = []) {
      // A statement that were prepared now would keep the connection from closing.
      if (isFinalized) throw kernelError('unavailable', { internal: 'the database is closed' })
      return limit(() => run<Row>(sql, bind), sql)
    },
    async finalize() {
      isFinalized = true
      // Waiting statements run first.
      await limit(async () => undefined, '')
      for (const copies of texts.values()) await copies.finalize()
    },
  }
}

interface Waiter {
  readonly resolve: (statement: SqliteStatement) => void
  readonly reject: (reason: unknown) => void
}

/** The prepared statements of one text, one per concurrent call. */
class Copies {
  readonly #connection: SqliteConnection
  readonly #sql: string
  readonly #free: SqliteStatement[] = []
  #made = 0
  #waiting: Waiter[] = []

  constructor(connection: SqliteConnection, sql: string) {
    this.#connection = connection
    this.#sql = numbered(sql)
  }

  free(): SqliteStatement | undefined {
    return this.#free.pop()
  }

  async prepare(): Promise<SqliteStatement> {
    this.#made++
    try {
      return await reasoned(this.#connection.prepare(this.#sql))
    } catch (cause) {
      this.#made--
      // Nobody gives back what was never made.
      if (this.#made === 0) for (const { reject } of this.#waiting.splice(0)) reject(cause)
      throw cause
    }
  }

  giveBack(statement: SqliteStatement): void {
    const waiter = this.#waiting.shift()
    if (waiter === undefined) this.#free.push(statement)
    else waiter.resolve(statement)
  }

  /** Waits for those in use: a connection with a prepared statement does not close. */
  async finalize(): Promise<void> {
    while (this.#made > 0) {
      const statement = this.free() ?? (await this.#givenBack().catch(() => undefined))
      if (statement === undefined) continue
      this.#made--
      await statement.finalize()
    }
  }

  #givenBack(): Promise<SqliteStatement> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
    })
  }
}
