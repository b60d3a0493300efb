import type { EventRecord } from '../../../lib/engine/ports.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Page, SizedPageQuery } from './page.ts'

/** A type of event that an account, or the operator for all, declared. */
export interface EventTypeRecord {
  /** Empty for a type of the operator's. */
  readonly account_id: string
  readonly type: string
  readonly description: string | null
  /** JSON text, kept as documentation. */
  readonly schema: string | null
  /** JSON text. */
  readonly sample: string | null
  readonly created_at: Instant
  readonly updated_at: Instant
}

/** By name, from the first; `after` is the last name of the page before, `bytes` those of JSON text. */
export interface EventTypeListQuery extends SizedPageQuery {
  readonly account_id: string
}

export interface EventListQuery {
  readonly account_id: string
  readonly types: readonly string[] | null
  /** Made at this instant or later. */
  readonly since: Instant | null
  /** Made before this instant. */
  readonly until: Instant | null
  /** Only events of these apps. */
  readonly apps: readonly string[] | null
  /**
   * `asc` is the feed: an event is shown once nothing can be committed before it any more, so who goes
   * on after the last place misses none. `desc` shows whatever is committed now.
   */
  readonly order: 'asc' | 'desc'
  /** False leaves bodies empty, for who needs to know of the events alone. */
  readonly bodies: boolean
  /** Events beyond this place, in the order asked for. */
  readonly after: string | null
  readonly limit: number
  /** As in `SizedPageQuery`, of bodies. */
  readonly bytes?: number
}

/** An event with its place in the order of commits: opaque, at most 80 of [A-Za-z0-9_-]. */
export interface PlacedEvent extends EventRecord {
  readonly place: string
}

export interface EventReads {
  /** Names of the types that an account may publish: its own and the operator's. Nothing else of them is read. */
  typeNames(accountId: string): Promise<readonly string[]>
  /** The same types, each name once: the account's own declaration hides that of the operator. */
  types(query: EventTypeListQuery): Promise<Page<EventTypeRecord>>
  get(accountId: string, id: string): Promise<PlacedEvent | undefined>
  /** @param most events that a page looks at; default `MOST_LOOKED_AT` */
  list(query: EventListQuery, most?: number): Promise<Page<PlacedEvent>>
  /**
   * Whether a text, which may be forged, is such as this store's places are: `after` must be one.
   *
   * @param last a place that it must not be beyond
   */
  isPlace(text: string, last?: string): boolean
  /** A place that no event committed so far is beyond, also when none is kept any more. */
  lastPlace(): Promise<string>
}

export interface EventWrites extends EventReads {
  /**
   * Declares a type, or replaces its declaration; answers what is kept. Undefined, declaring nothing, for
   * a new type of an account that has `most`.
   *
   * @param most types that the account itself may declare; default no limit
   */
  putType(type: EventTypeRecord, most?: number): Promise<EventTypeRecord | undefined>
}
