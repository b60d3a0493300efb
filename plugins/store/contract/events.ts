import type { EventRecord } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, SizedPageQuery } from './page.ts'

/** An event type that an account declared, or the operator for all accounts. */
export interface EventTypeRecord {
  /** Empty for a type of the operator's. */
  readonly account_id: string
  readonly type: string
  readonly description: string | null
  /** JSON text, stored as documentation. */
  readonly schema: string | null
  /** JSON text. */
  readonly sample: string | null
  readonly created_at: Instant
  readonly updated_at: Instant
}

/** By name, from the first; `after` is the last name of the page before, `bytes` those of JSON text. */
export interface EventTypeListQuery extends SizedPageQuery {
  readonly account_id: string
  /** False reads names and descriptions alone: schema and sample are null, instants 0. Default true. */
  readonly documents?: boolean
}

export interface EventListQuery {
  readonly account_id: string
  readonly types: readonly string[] | null
  /** Without events of these types. Default: none. */
  readonly except?: readonly string[]
  /** Made at this instant or later. */
  readonly since: Instant | null
  /** Made before this instant. */
  readonly until: Instant | null
  /** Only events of these apps. */
  readonly apps: readonly string[] | null
  /**
   * `asc` is the feed: it contains an event once no other can be committed before it, so that a reader who
   * continues after the last cursor misses none. `desc` contains every committed event.
   */
  readonly order: 'asc' | 'desc'
  /** False leaves bodies empty. */
  readonly bodies: boolean
  /** Only events after this cursor, in `order`. */
  readonly after: string | null
  readonly limit: number
  /** As in `SizedPageQuery`, of bodies. */
  readonly bytes?: number
}

/** An event with its cursor, the position in the order of commits: opaque, at most 80 of [A-Za-z0-9_-]. */
export interface OrderedEvent extends EventRecord {
  readonly cursor: string
}

export interface EventReads {
  /** Names of the types that an account may publish: its own and the operator's. */
  typeNames(accountId: string): Promise<readonly string[]>
  /** The declarations of these types, each name once: that of the account overrides the operator's. */
  types(query: EventTypeListQuery): Promise<Page<EventTypeRecord>>
  get(accountId: string, id: string): Promise<OrderedEvent | undefined>
  /** @param most events that a page looks at; default `MOST_LOOKED_AT` */
  list(query: EventListQuery, most?: number): Promise<Page<OrderedEvent>>
  /**
   * Whether a text, which may be forged, is a well-formed cursor of this store, as `after` requires.
   *
   * @param last a cursor that it must not be after
   */
  isCursor(text: string, last?: string): boolean
  /** A cursor after every event that is committed now, also when all were deleted. */
  lastCursor(): Promise<string>
}

export interface EventWrites extends EventReads {
  /**
   * Declares a type or replaces its declaration, and returns the stored one. Undefined, changing nothing,
   * for a new type when the account has `most`.
   *
   * @param most maximum types that the account itself declares; default no limit
   */
  putType(type: EventTypeRecord, most?: number): Promise<EventTypeRecord | undefined>
}
