import type { Knex } from 'knex'
import type { TransactionAdapter } from './adapter.ts'
import { clientOf, isKnex } from './knex-database.ts'

/**
 * Transactions of Knex over `pg`, and over `sqlite3` those of `keyhook.transaction()`.
 *
 * @example
 * await knex.transaction(async (trx) => {
 *   await trx('orders').insert({ number })
 *   await keyhook.webhooks.publish(event, { transaction: trx })
 * })
 */
export const knex: TransactionAdapter<Knex.Transaction> = {
  recognizes: (value): value is Knex.Transaction => isKnex(value) && 'isTransaction' in value,
  connectionOf(transaction) {
    if (transaction.isCompleted()) throw new TypeError('the transaction of Knex has ended')
    return clientOf(transaction).acquireConnection()
  },
}
