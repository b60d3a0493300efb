import type { NodePgTransaction } from 'drizzle-orm/node-postgres'
import type { Members, TransactionAdapter } from './adapter.ts'
import { hasMembers } from './adapter.ts'

/** A transaction of Drizzle over `pg`, whatever its schema. */
// oxlint-disable-next-line typescript/no-explicit-any
export type DrizzleTransaction = NodePgTransaction<any, any>

/**
 * Transactions of Drizzle's `node-postgres`: `db.transaction(async (tx) => …)`.
 *
 * @example
 * await db.transaction(async (tx) => {
 *   await tx.insert(orders).values({ number })
 *   await keyhook.webhooks.publish(event, { transaction: tx })
 * })
 */
export const drizzle: TransactionAdapter<DrizzleTransaction> = {
  recognizes: (value): value is DrizzleTransaction => {
    const { session, rollback } = value as unknown as Members
    return typeof rollback === 'function' && hasMembers(session) && hasMembers(session['client'])
  },
  connectionOf(transaction) {
    const { session } = transaction as unknown as { readonly session: { readonly client: object } }
    return session.client
  },
}
