import type { AccountCache } from '../../lib/engine/account-cache.ts'
import { createAccountCache } from '../../lib/engine/account-cache.ts'
import type { IsBuiltIn } from '../../lib/webhook/match.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { EventReads } from '../../plugins/store/contract/events.ts'

/** The scope of a built-in type whose data holds identifiers only: registering the webhook is enough. */
export const IDENTIFIERS = 'webhooks:write'

/** The scope of every type that an account or the operator declares. */
export const DECLARED = 'events:read'

/** A type of event that the product itself publishes. */
export interface BuiltInEvent {
  readonly type: string
  /** The scope that reads its data: what a key needs to receive it. */
  readonly scope: string
  readonly description: string
  /** The `data` of an example. */
  readonly sample: object
}

/** Which types of event there are: the product's own, the operator's, and those of each account. */
export interface EventTypes extends Pick<AccountCache<ReadonlySet<string>>, 'peek'> {
  readonly builtIn: ReadonlyMap<string, BuiltInEvent>
  /** Whether `*` reaches the type: a built-in one of identifiers only. */
  readonly isBuiltIn: IsBuiltIn
  /** The types that an account may publish: those that it or the operator declared. */
  declared(accountId: string): Promise<ReadonlySet<string>>
  /** Whether webhooks of the account may name the type. */
  knows(accountId: string, type: string): Promise<boolean>
}

export function createEventTypes(
  builtIn: readonly BuiltInEvent[],
  { events, changes }: Pick<Store, 'changes'> & { readonly events: Pick<EventReads, 'typeNames'> },
): EventTypes {
  const own = new Map<string, BuiltInEvent>()
  // The family that publishes a type knows it best, and comes before those that only name it.
  for (const event of builtIn) if (!own.has(event.type)) own.set(event.type, event)
  const cache = createAccountCache<ReadonlySet<string>>(
    // A type that was declared before a release made it built-in is the service's.
    async (accountId) =>
      new Set((await events.typeNames(accountId)).filter((type) => !own.has(type))),
    () => changes.isCurrent(),
  )
  changes.listen((change) => {
    // The types of no account are those of all.
    if (change === 'all' || (change.kind === 'event_types' && change.id === '')) cache.dropAll()
    else if (change.kind === 'event_types') cache.drop(change.id)
  })
  return {
    builtIn: own,
    isBuiltIn: (type) => own.get(type)?.scope === IDENTIFIERS,
    peek: cache.peek,
    declared: cache.get,
    knows: async (accountId, type) => own.has(type) || (await cache.get(accountId)).has(type),
  }
}
