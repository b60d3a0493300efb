import type { TransactionAdapter } from './adapter.ts'
import { hasMembers } from './adapter.ts'
import { drizzle } from './drizzle.ts'
import { knex } from './knex.ts'
import { kysely } from './kysely.ts'
import { mikroOrm } from './mikro-orm.ts'
import { typeorm } from './typeorm.ts'

/** The libraries whose transactions are recognized, besides pg's clients and Sequelize's. */
const ADAPTERS: readonly TransactionAdapter[] = [drizzle, kysely, knex, typeorm, mikroOrm]

/**
 * What the store can join of a transaction of any library: the transaction itself where it is a client of pg or
 * one of Sequelize.
 *
 * @throws TypeError for a transaction that has ended, and for what is none
 */
export async function joinable(transaction: unknown): Promise<object> {
  if (!hasMembers(transaction))
    throw new TypeError('transaction must be a transaction that is open')
  let found: object = transaction
  // Some libraries stand on another one; none of them on itself.
  for (const _ of ADAPTERS) {
    const adapter = ADAPTERS.find((one) => one.recognizes(found))
    if (adapter === undefined) break
    found = await adapter.connectionOf(found)
  }
  return found
}
