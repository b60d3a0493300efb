import type { AccountCache } from '../lib/engine/account-cache.ts'
import { createAccountCache } from '../lib/engine/account-cache.ts'
import type { EventTypeRecord } from '../plugins/store/contract/events.ts'

/** A type of event that the product itself publishes. */
export interface BuiltInEvent {
  readonly type: string
  readonly description: string
  /** The `data` of an example. */
  readonly sample: object
}

/** Which types of event there are: the product's own, the operator's, and those of each account. */
export interface EventTypes extends Pick<
  AccountCache<ReadonlySet<string>>,
  'peek' | 'drop' | 'dropAll'
> {
  readonly builtIn: ReadonlyMap<string, BuiltInEvent>
  /** The types that an account may publish: those that it or the operator declared. */
  declared(accountId: string): Promise<ReadonlySet<string>>
  /** Whether webhooks of the account may name the type. */
  knows(accountId: string, type: string): Promise<boolean>
}

export function createEventTypes(
  builtIn: readonly BuiltInEvent[],
  read: (accountId: string) => Promise<readonly EventTypeRecord[]>,
): EventTypes {
  const own = new Map(builtIn.map((event) => [event.type, event]))
  const cache = createAccountCache<ReadonlySet<string>>(
    async (accountId) => new Set((await read(accountId)).map(({ type }) => type)),
  )
  return {
    builtIn: own,
    peek: cache.peek,
    drop: cache.drop,
    dropAll: cache.dropAll,
    declared: cache.get,
    knows: async (accountId, type) => own.has(type) || (await cache.get(accountId)).has(type),
  }
}
