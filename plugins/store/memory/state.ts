import type { Attempt } from '../../../lib/delivery/state.ts'
import type { DeliveryRecord } from '../../../lib/engine/ports.ts'
import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import type { AccountRecord, SessionRecord, UserRecord } from '../contract/accounts.ts'
import type { AppRecord, RevisionRecord } from '../contract/apps.ts'
import type { DomainRecord } from '../contract/domains.ts'
import type { DeploymentLine, DeploymentRecord } from '../contract/deployments.ts'
import type { SiteRecord } from '../contract/sites.ts'
import type { EditLine, EditRecord } from '../contract/edits.ts'
import type { EventTypeRecord, PlacedEvent } from '../contract/events.ts'
import type { FileChunk, FileRecord } from '../contract/files.ts'
import type {
  CheckRecord,
  PlacedLine,
  ProblemRecord,
  UsageRecord,
} from '../contract/observations.ts'
import type { Page, PageQuery } from '../contract/page.ts'
import { leadOn } from '../contract/page.ts'
import type { AuditRecord, IdempotencyRecord } from '../contract/requests.ts'
import type { VectorBlock } from '../nearest.ts'
import type { ServiceRecord } from '../contract/services.ts'
import type { SignInRecord } from '../contract/sign-in.ts'

/** Every record, frozen, so that a shallow copy of the maps is a snapshot. */
export interface State {
  readonly accounts: Map<string, AccountRecord>
  readonly users: Map<string, UserRecord>
  readonly sessions: Map<string, SessionRecord>
  readonly setupLinks: Map<string, Instant>
  readonly meta: Map<string, string>
  readonly keys: Map<string, KeyRecord>
  /** Secrets that have ended for ever, by their hashes. */
  readonly endedSecrets: Map<string, EndedSecret>
  readonly webhooks: Map<string, WebhookRecord>
  readonly types: Map<string, EventTypeRecord>
  readonly apps: Map<string, AppRecord>
  readonly revisions: Map<string, RevisionRecord>
  /** Aliases that apps gave up, and whose alone they are until when. */
  readonly leftAliases: Map<string, LeftAlias>
  readonly deployments: Map<string, DeploymentRecord>
  readonly deploymentLeases: Map<string, Lease>
  /** Those that are ready to be switched to. */
  readonly deploymentsPoised: Map<string, true>
  readonly deploymentLines: Map<string, readonly DeploymentLine[]>
  readonly sites: Map<string, SiteRecord>
  readonly edits: Map<string, EditRecord>
  readonly editLeases: Map<string, Lease>
  readonly editLines: Map<string, readonly EditLine[]>
  readonly files: Map<string, FileRecord>
  readonly fileLeases: Map<string, Lease>
  readonly fileChunks: Map<string, readonly FileChunk[]>
  readonly fileVectors: Map<string, readonly KeptVectors[]>
  readonly events: Map<string, PlacedEvent>
  readonly deliveries: Map<string, DeliveryRecord>
  readonly attempts: Map<string, readonly Attempt[]>
  readonly lines: Map<string, PlacedLine>
  readonly usage: Map<string, KeptUsage>
  readonly problems: Map<string, ProblemRecord>
  readonly checks: Map<string, CheckRecord>
  /** When apps are to be asked next. */
  readonly probes: Map<string, Instant>
  readonly observers: Map<string, { readonly batch: number; readonly at: Instant }>
  readonly idempotency: Map<string, IdempotencyRecord>
  readonly audit: Map<string, AuditRecord>
  readonly domains: Map<string, DomainRecord>
  readonly domainLeases: Map<string, Lease>
  readonly services: Map<string, ServiceRecord>
  readonly signIn: Map<string, SignInRecord>
}

export interface EndedSecret {
  readonly key_id: string
  readonly secret: KeySecret
}

export interface LeftAlias {
  readonly account_id: string
  readonly kept_until: Instant
}

/** A counter, and of which app. */
export interface KeptUsage extends UsageRecord {
  readonly app_id: string
}

/** Vectors of a file, and what made them. */
export interface KeptVectors extends VectorBlock {
  readonly model: string
}

/** Whose a piece of work under way is, and until when unless it is held on to. */
export interface Lease {
  readonly claim: string
  readonly until: Instant
}

/** The state as it is now: what is committed, or the draft of one unit of work. */
export type Reading = () => State

export function emptyState(): State {
  return {
    accounts: new Map(),
    users: new Map(),
    sessions: new Map(),
    setupLinks: new Map(),
    meta: new Map(),
    keys: new Map(),
    endedSecrets: new Map(),
    webhooks: new Map(),
    types: new Map(),
    apps: new Map(),
    revisions: new Map(),
    leftAliases: new Map(),
    deployments: new Map(),
    deploymentLeases: new Map(),
    deploymentsPoised: new Map(),
    deploymentLines: new Map(),
    sites: new Map(),
    edits: new Map(),
    editLeases: new Map(),
    editLines: new Map(),
    files: new Map(),
    fileLeases: new Map(),
    fileChunks: new Map(),
    fileVectors: new Map(),
    events: new Map(),
    deliveries: new Map(),
    attempts: new Map(),
    lines: new Map(),
    usage: new Map(),
    problems: new Map(),
    checks: new Map(),
    probes: new Map(),
    observers: new Map(),
    idempotency: new Map(),
    audit: new Map(),
    domains: new Map(),
    domainLeases: new Map(),
    services: new Map(),
    signIn: new Map(),
  }
}

export function copyState(state: State): State {
  return {
    accounts: new Map(state.accounts),
    users: new Map(state.users),
    sessions: new Map(state.sessions),
    setupLinks: new Map(state.setupLinks),
    meta: new Map(state.meta),
    keys: new Map(state.keys),
    endedSecrets: new Map(state.endedSecrets),
    webhooks: new Map(state.webhooks),
    types: new Map(state.types),
    apps: new Map(state.apps),
    revisions: new Map(state.revisions),
    leftAliases: new Map(state.leftAliases),
    deployments: new Map(state.deployments),
    deploymentLeases: new Map(state.deploymentLeases),
    deploymentsPoised: new Map(state.deploymentsPoised),
    deploymentLines: new Map(state.deploymentLines),
    sites: new Map(state.sites),
    edits: new Map(state.edits),
    editLeases: new Map(state.editLeases),
    editLines: new Map(state.editLines),
    files: new Map(state.files),
    fileLeases: new Map(state.fileLeases),
    fileChunks: new Map(state.fileChunks),
    fileVectors: new Map(state.fileVectors),
    events: new Map(state.events),
    deliveries: new Map(state.deliveries),
    attempts: new Map(state.attempts),
    lines: new Map(state.lines),
    usage: new Map(state.usage),
    problems: new Map(state.problems),
    checks: new Map(state.checks),
    probes: new Map(state.probes),
    observers: new Map(state.observers),
    idempotency: new Map(state.idempotency),
    audit: new Map(state.audit),
    domains: new Map(state.domains),
    domainLeases: new Map(state.domainLeases),
    services: new Map(state.services),
    signIn: new Map(state.signIn),
  }
}

/** The key of a record that is known by two names. */
export function place(owner: string, name: string): string {
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

/** Whether somebody still holds a piece of work. */
export function isLeased(leases: ReadonlyMap<string, Lease>, id: string, now: Instant): boolean {
  const lease = leases.get(id)
  return lease !== undefined && lease.until > now
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
