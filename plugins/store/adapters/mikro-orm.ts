import type { EntityManager } from '@mikro-orm/core'
import type { Members, TransactionAdapter } from './adapter.ts'

/**
 * Transactions of MikroORM 6 over `@mikro-orm/postgresql`: `em.transactional(async (em) => …)`. Their
 * connection is a transaction of Knex.
 *
 * @example
 * await em.transactional(async (em) => {
 *   em.persist(new Order(number))
 *   await keyhook.webhooks.publish(event, { transaction: em })
 * })
 */
export const mikroOrm: TransactionAdapter<EntityManager> = {
  recognizes: (value): value is EntityManager => {
    const { getTransactionContext, transactional } = value as unknown as Members
    return typeof getTransactionContext === 'function' && typeof transactional === 'function'
  },
  connectionOf(em) {
    const transaction: unknown = em.getTransactionContext()
    if (typeof transaction === 'function') return transaction
    throw new TypeError('the entity manager of MikroORM is in no transaction')
  },
}
