import type { EntityManager } from 'typeorm'
import type { Members, TransactionAdapter } from './adapter.ts'
import { hasMembers } from './adapter.ts'

/**
 * Transactions of TypeORM over `postgres`: `dataSource.transaction(async (manager) => …)`, or the manager of a
 * query runner after `startTransaction()`.
 *
 * @example
 * await dataSource.transaction(async (manager) => {
 *   await manager.insert(Order, { number })
 *   await keyhook.webhooks.publish(event, { transaction: manager })
 * })
 */
export const typeorm: TransactionAdapter<EntityManager> = {
  recognizes: (value): value is EntityManager => {
    const { connection, getRepository } = value as unknown as Members
    return typeof getRepository === 'function' && hasMembers(connection)
  },
  async connectionOf({ queryRunner }) {
    // Without one, each statement of a manager takes another connection.
    if (queryRunner?.isTransactionActive !== true) {
      throw new TypeError('the manager of TypeORM is in no transaction')
    }
    return (await queryRunner.connect()) as object
  },
}
