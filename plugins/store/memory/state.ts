import type { Attempt } from '../../../lib/delivery/state.ts'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import type { AccountRecord, SessionRecord, UserRecord } from '../contract/accounts.ts'
import type { EventTypeRecord, OrderedEvent } from '../contract/events.ts'
import type { Page, PageQuery } from '../contract/page.ts'
import { leadOn } from '../contract/page.ts'
import type { AuditRecord, IdempotencyRecord } from '../contract/requests.ts'

/** Every record, frozen, so that a shallow copy of the maps is a snapshot. */
export interface State {
  readonly accounts: Map<string, AccountRecord>
  readonly users: Map<string, UserRecord>
  readonly sessions: Map<string, SessionRecord>
  /** When users last signed in, by their ids. */
  readonly signedIn: Map<string, Instant>
  readonly setupLinks: Map<string, Instant>
  readonly meta: Map<string, string>
  readonly keys: Map<string, KeyRecord>
  /** Secrets that have ended for ever, by their hashes. */
  readonly endedSecrets: Map<string, EndedSecret>
  readonly webhooks: Map<string, WebhookRecord>
  readonly types: Map<string, EventTypeRecord>
  readonly events: Map<string, StoredEvent>
  readonly deliveries: Map<string, DeliveryRecord>
  readonly attempts: Map<string, readonly Attempt[]>
  readonly idempotency: Map<string, IdempotencyRecord>
  readonly audit: Map<string, AuditRecord>
}

export interface StoredEvent extends OrderedEvent {
  readonly traceparent?: string | undefined
}

export interface EndedSecret {
  readonly key_id: string
  readonly secret: KeySecret
}

/** The current state: the committed one, or the draft of one unit of work. */
export type Reading = () => State

export function emptyState(): State {
  return {
    accounts: new Map(),
    users: new Map(),
    sessions: new Map(),
    signedIn: new Map(),
    setupLinks: new Map(),
    meta: new Map(),
    keys: new Map(),
    endedSecrets: new Map(),
    webhooks: new Map(),
    types: new Map(),
    events: new Map(),
    deliveries: new Map(),
    attempts: new Map(),
    idempotency: new Map(),
    audit: new Map(),
  }
}

export function copyState(state: State): State {
  const maps: [string, Map<string, unknown>][] = Object.entries(state)
  return Object.fromEntries(maps.map(([name, rows]) => [name, new Map(rows)])) as unknown as State
}

/** The key of a record that is known by two names. */
export function keyOf(owner: string, name: string): string {
  return JSON.stringify([owner, name])
}

/** @throws Error when the id is taken */
export function add<T extends object>(rows: Map<string, T>, id: string, row: T): void {
  if (rows.has(id)) throw new Error(`${id} is taken`)
  rows.set(id, Object.freeze({ ...row }))
}

/** Changes the named columns alone. False when there is no such record. */
export function change<T extends object>(
  rows: Map<string, T>,
  id: string,
  changes: Partial<T>,
): boolean {
  const row = rows.get(id)
  if (row !== undefined) rows.set(id, Object.freeze({ ...row, ...changes }))
  return row !== undefined
}

/** Whether a list of apps, null for all of them, lies within a filter; a filter of null lets all pass. */
export function isWithin(
  apps: readonly string[] | null,
  filter: readonly string[] | null,
): boolean {
  return filter === null || (apps !== null && apps.every((app) => filter.includes(app)))
}

/** One page, newest first. */
export function pageOf<T extends { readonly id: string }>(
  rows: Iterable<T>,
  { limit, after }: PageQuery,
): Page<T> {
  const beyond = [...rows]
    .filter(({ id }) => after === null || id < after)
    .sort((a, b) => (a.id > b.id ? -1 : 1))
  return { rows: beyond.slice(0, limit), more: beyond.length > limit }
}

/** One page of those that are asked for, among the next `most` rows. */
export function searchPage<T extends { readonly id: string }>(
  rows: Iterable<T>,
  query: PageQuery,
  isAsked: (row: T) => boolean,
  most: number,
): Page<T> {
  const looked = pageOf(rows, { limit: most, after: query.after }).rows
  return leadOn(pageOf(looked.filter(isAsked), query), looked[most - 1]?.id)
}

/** Ends a page with the record that reaches `bytes`. */
export function endPage<T>(
  page: Page<T>,
  bytes: number | undefined,
  sizeOf: (row: T) => number,
): Page<T> {
  const { rows } = page
  let left = bytes ?? Infinity
  const fit = rows.findIndex((row) => (left -= sizeOf(row)) <= 0) + 1
  return fit === 0 || fit === rows.length ? page : { rows: rows.slice(0, fit), more: true }
}
