import type { AccountCache } from '../../lib/engine/account-cache.ts'
import { createAccountCache } from '../../lib/engine/account-cache.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import type { NewEvent } from '../../lib/engine/ports.ts'
import type { Instant } from '../../lib/time.ts'
import type { IsBuiltIn } from '../../lib/webhook/match.ts'
import type { Store, StoreTx } from '../../plugins/store/contract.ts'
import type { EventReads } from '../../plugins/store/contract/events.ts'
import { readEvents } from '../operations/declared.ts'

/** Scope of a built-in type whose data only has identifiers: registering the webhook is enough. */
export const IDENTIFIERS = 'webhooks:write'

/** Scope of every type that an account or the operator declares. */
export const DECLARED = 'events:read'

/** An event type that the product publishes. */
export interface BuiltInEvent<Type extends string = string> {
  readonly type: Type
  /** Scope that reads its data, and that a key needs to receive it. */
  readonly scope: string
  readonly description: string
  /** `data` of an example. */
  readonly sample: object
  /**
   * Whether its events are for the webhooks that they are made for alone: nobody declares, publishes,
   * subscribes to, replays or lists them. Default: no.
   */
  readonly isInternal?: true
}

/** The event types of a family. */
export interface FamilyEvents<Type extends string> {
  readonly types: readonly BuiltInEvent<Type>[]
  /** Creates an event of one of these types, as the engine does. */
  newEvent(
    engine: Pick<Engine, 'newEvent'>,
    accountId: string,
    type: Type,
    data: object,
    now: Instant,
    appId: string | null,
  ): NewEvent
  /** Publishes an event of one of these types in the unit of work of a call. */
  publish(call: PublishingCall, accountId: string, type: Type, data: object): Promise<void>
}

/** The part of a call that an event needs. */
export interface PublishingCall {
  readonly tx: StoreTx
  readonly platform: { readonly engine: Pick<Engine, 'newEvent' | 'publishIn'> }
  readonly now: Instant
}

/**
 * Declares the event types of a family.
 *
 * @example
 * const potEvents = defineEvents([{ type: 'pot.boiled', … }])
 * potEvents.newEvent(engine, account_id, 'pot.boiled', { degrees: 100 }, now, null)
 */
export function defineEvents<const Type extends string>(
  ...args: readonly [types: readonly BuiltInEvent<Type>[]]
): FamilyEvents<Type> {
  readEvents(args)
  const [types] = args
  return {
    types,
    newEvent: (engine, ...event) => engine.newEvent(...event),
    async publish({ tx, platform: { engine }, now }, accountId, type, data) {
      await engine.publishIn(tx, [engine.newEvent(accountId, type, data, now, null)])
    },
  }
}

/** The known event types: those of the product, of the operator, and of each account. */
export interface EventTypes extends Pick<AccountCache<ReadonlySet<string>>, 'peek'> {
  readonly builtIn: ReadonlyMap<string, BuiltInEvent>
  /** Types that are for nobody to name or read. */
  readonly internal: readonly string[]
  /** Whether a type belongs to the service. */
  isReserved(type: string): boolean
  /** Whether `*` includes the type: a built-in type with identifiers only. */
  readonly isBuiltIn: IsBuiltIn
  /** The types that an account may publish: declared by itself or by the operator. */
  declared(accountId: string): Promise<ReadonlySet<string>>
  /** Whether webhooks of the account may name the type. */
  knows(accountId: string, type: string): Promise<boolean>
}

export function createEventTypes(
  builtIn: readonly BuiltInEvent[],
  { events, changes }: Pick<Store, 'changes'> & { readonly events: Pick<EventReads, 'typeNames'> },
): EventTypes {
  const own = new Map<string, BuiltInEvent>()
  // The family that publishes a type takes precedence over one that only names it.
  const internal = new Set<string>()
  for (const event of builtIn) {
    if (event.isInternal === true) internal.add(event.type)
    else if (!own.has(event.type)) own.set(event.type, event)
  }
  const isReserved = (type: string): boolean => own.has(type) || internal.has(type)
  const cache = createAccountCache<ReadonlySet<string>>(
    // A declared type that a later release publishes itself belongs to the service.
    async (accountId) =>
      new Set((await events.typeNames(accountId)).filter((type) => !isReserved(type))),
    () => changes.isCurrent(),
  )
  changes.listen((change) => {
    // Types without an account belong to all accounts.
    if (change === 'all' || (change.kind === 'event_types' && change.id === '')) cache.dropAll()
    else if (change.kind === 'event_types') cache.drop(change.id)
  })
  return {
    builtIn: own,
    internal: [...internal],
    isReserved,
    isBuiltIn: (type) => own.get(type)?.scope === IDENTIFIERS,
    peek: cache.peek,
    declared: cache.get,
    knows: async (accountId, type) => own.has(type) || (await cache.get(accountId)).has(type),
  }
}
