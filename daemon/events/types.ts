import type { z } from 'zod'
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
export interface BuiltInEvent {
  readonly type: string
  /** Scope that reads its data, and that a key needs to receive it. */
  readonly scope: string
  readonly description: string
  /**
   * What `data` is, exactly: whoever publishes is held to it, and receivers are told it. Default: what the sample
   * shows, where any value may be null or missing.
   */
  readonly schema?: z.ZodType<object>
  /** `data` of an example. */
  readonly sample: object
  /**
   * Whether its events are for the webhooks that they are made for alone: nobody declares, publishes,
   * subscribes to, replays or lists them. Default: no.
   */
  readonly isInternal?: true
}

/** The data of one of these events, as its schema says. */
type DataOf<Event extends BuiltInEvent, Type extends string> =
  Extract<Event, { readonly type: Type }> extends {
    readonly schema: infer Schema extends z.ZodType<object>
  }
    ? z.input<Schema> & object
    : object

/** The event types of a family. */
export interface FamilyEvents<Event extends BuiltInEvent> {
  readonly types: readonly Event[]
  /** Creates an event of one of these types, as the engine does. */
  newEvent<Type extends Event['type']>(
    engine: Pick<Engine, 'newEvent'>,
    accountId: string,
    type: Type,
    data: DataOf<Event, Type>,
    now: Instant,
    appId: string | null,
  ): NewEvent
  /** Publishes an event of one of these types in the unit of work of a call. */
  publish<Type extends Event['type']>(
    call: PublishingCall,
    accountId: string,
    type: Type,
    data: DataOf<Event, Type>,
  ): Promise<void>
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
export function defineEvents<const Event extends BuiltInEvent>(
  ...args: readonly [types: readonly Event[]]
): FamilyEvents<Event> {
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

/**
 * The events that webhooks may name, by type. The family that publishes a type precedes one that only names it.
 */
export function eventsByType(events: readonly BuiltInEvent[]): ReadonlyMap<string, BuiltInEvent> {
  const byType = new Map<string, BuiltInEvent>()
  for (const event of events) {
    if (event.isInternal !== true && !byType.has(event.type)) byType.set(event.type, event)
  }
  return byType
}

export function createEventTypes(
  builtIn: readonly BuiltInEvent[],
  { events, changes }: Pick<Store, 'changes'> & { readonly events: Pick<EventReads, 'typeNames'> },
): EventTypes {
  const own = eventsByType(builtIn)
  const internal = new Set(builtIn.filter(({ isInternal }) => isInternal).map(({ type }) => type))
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
