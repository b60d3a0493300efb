import type { Transaction } from 'kysely'
import type { PgAnswer, PgClient, PgStatement } from '../sql/postgres/source.ts'
import type { Members, TransactionAdapter } from './adapter.ts'

/** A transaction of Kysely, whatever its tables. */
// oxlint-disable-next-line typescript/no-explicit-any
export type KyselyTransaction = Transaction<any>

/** What is used of its connection. */
interface Connection {
  executeQuery(query: object): Promise<{ readonly rows: readonly object[] }>
}

interface Executor {
  provideConnection<T>(consumer: (connection: Connection) => Promise<T>): Promise<T>
}

/**
 * Transactions of Kysely over `PostgresDialect`: `db.transaction().execute(async (trx) => …)`.
 *
 * Kysely hides the client of pg. Statements are passed through its connection, beneath its plugins; their
 * values were parsed already, and are printed again as the server does.
 *
 * @example
 * await db.transaction().execute(async (trx) => {
 *   await trx.insertInto('orders').values({ number }).execute()
 *   await keyhook.webhooks.publish(event, { transaction: trx })
 * })
 */
export const kysely: TransactionAdapter<KyselyTransaction> = {
  recognizes: (value): value is KyselyTransaction => {
    const { isTransaction, getExecutor } = value as unknown as Members
    return isTransaction === true && typeof getExecutor === 'function'
  },
  connectionOf(transaction) {
    const executor = transaction.getExecutor() as unknown as Executor
    const client: PgClient & { readonly processID: null } = {
      // A client of pg has one.
      processID: null,
      query: (statement) => executor.provideConnection((one) => run(one, statement)),
      on: () => undefined,
      off: () => undefined,
    }
    return client
  },
}

async function run(connection: Connection, { text, values = [] }: PgStatement): Promise<PgAnswer> {
  const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] }
  const { rows } = await connection.executeQuery({ sql: text, parameters: values, query })
  return { command: '', rows: rows.map(printRow) }
}

function printRow(row: object): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, print(value)]))
}

/** A value as the server writes it, except bytes. */
function print(value: unknown): unknown {
  if (value === null || typeof value === 'string' || value instanceof Uint8Array) return value
  if (typeof value === 'boolean') return value ? 't' : 'f'
  return typeof value === 'object' ? JSON.stringify(value) : String(value as number | bigint)
}
