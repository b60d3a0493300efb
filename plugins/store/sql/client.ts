import type {
  Claim,
  DeliveryRecord,
  Publication,
  SettledAttempt,
} from '../../../lib/engine/ports.ts'
import type { Change, OwnChanges } from '../../../lib/engine/changes.ts'
import type { Instant, Millis } from '../../../lib/time.ts'
import type { Row } from './rows.ts'
import type { Tables } from './tables.ts'

/** Runs one statement; values are bound by position ($1, $2, …) and never become SQL text. */
export type Query = <Row extends object = Record<string, unknown>>(
  sql: string,
  bind?: readonly unknown[],
) => Promise<Row[]>

/** What the SQL store stands on: the same few calls over SQLite and PostgreSQL. */
export interface SqlClient {
  readonly dialect: Dialect
  /** Reads what is committed. */
  readonly read: Query
  /** The same for searches, which take long: other reads do not wait for them. */
  readonly search: Query
  /** One transaction: all of it or nothing. Concurrent calls never see each other's middle. */
  transaction<T>(work: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Single statements, each its own commit. Calls of one purpose follow one another; on a database with
   * one writer all calls do, and transactions too.
   */
  exclusive<T>(purpose: Purpose, work: (statement: Query) => Promise<T>): Promise<T>
  readonly changes: OwnChanges
  /** What the claims of this process begin with; what follows is the caller's. */
  readonly claimant: string
  /** As in the store's contract. */
  now?(): Instant
  /** As in the store's contract. */
  announce?(webhookIds: readonly string[]): void
  /** As in the store's contract. */
  onSilence?(listener: (processes: readonly string[]) => void): void
  /**
   * Statements on the connection of a transaction that somebody else began and will end.
   *
   * @throws TypeError for what is no such connection
   */
  join(transaction: unknown): Query
  /** As in the store's contract. */
  watch?(listener: (webhookIds?: readonly string[]) => void): () => void
  /** As in the store's contract. */
  hold?<T>(
    work: (aged: AbortSignal) => Promise<T>,
    options: { readonly maxAge: Millis },
  ): Promise<T>
  close(): Promise<void>
}

export type Purpose = 'publish' | 'claim' | 'settle' | 'purge' | 'ping'

export interface TransactionOptions {
  /** Changes of what caches hold, asked for before the commit and told before the call resolves. */
  changes?(): readonly Change[]
  /** Runs right after the commit, before the call resolves. */
  committed?(): void
  /** How long it waits for its turn; default 5 s where others may have it. */
  readonly patience?: Millis
}

/** Where the two databases differ; statements are written once with these pieces. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** Column type of raw bytes. */
  readonly bytes: string
  /** Column type of identifiers, compared bytewise. */
  readonly id: string
  /** A position that only grows. */
  readonly serial: string
  /** Storage clause for tables that are their primary key. */
  readonly clustered: string
  /** A condition: `column` is among the JSON array bound at `parameter`. */
  among(column: string, parameter: string): string
  /** A condition: every element of the JSON array in `column` is among that bound at `parameter`. */
  within(column: string, parameter: string): string
  /**
   * A table named `alias` of the JSON array of arrays bound at `parameter`: `alias.value ->> 0` is the
   * first element of a row, to be cast to what it is.
   */
  each(parameter: string, alias: string): string
  /** A value: the JSON array, as text, of an array of these columns for each row of a group, in no order. */
  gather(columns: readonly string[]): string
  /** The text of a field of the JSON object in `column`. */
  field(column: string, name: string): string
  /** The id of the master key that a text was sealed or marked under; empty for what is no such text. */
  sealedUnder(text: string): string
  /** A condition on a claimed delivery: who claimed it is gone. The id of this process is bound at `id`. */
  abandoned(t: Tables, id: string): string
  /** Ends a SELECT whose rows are about to change: those that another process changes are passed over. */
  readonly passOver: string
  /**
   * Runs a statement of a unit that a unique index may refuse, because of what another process commits
   * meanwhile: then it answers nothing, changes nothing, and the unit goes on.
   */
  unlessRefused(query: Query, sql: string, bind: readonly unknown[]): Promise<readonly Row[]>
  readonly feed: Feed
  readonly groups: Groups
}

export type Way = 'asc' | 'desc'

/** The order of events, in which nothing is committed before a place that a reader has passed. */
export interface Feed {
  /** Columns of the events' table that only their place needs. */
  readonly columns: string
  /** The columns that order it, first to last. */
  readonly key: readonly string[]
  /** A condition: nothing can be committed before it any more. */
  settled(t: Tables): string
  /** A condition: beyond the place bound at `parameter`. */
  beyond(way: Way, parameter: string): string
  /** A condition: at or before the place bound at `parameter`. */
  upTo(way: Way, parameter: string): string
  /** A place that each event is beyond, and one that none is beyond, when read in this order. */
  readonly ends: Readonly<Record<Way, { readonly first: string; readonly last: string }>>
  /** The place of an event. */
  print(row: Row): string
  /** An expression: a place that no event committed so far is beyond. */
  last(t: Tables): string
  /** What `print` may answer: numbers with hyphens between them. */
  readonly format: RegExp
}

/** Statements over many rows at once, whose shapes differ too much to share pieces. */
export interface Groups {
  /**
   * Commits events with their deliveries in one statement. Answers the events that were kept already,
   * by somebody who was not seen before, as their publications: of those nothing was inserted.
   */
  publish(query: Query, t: Tables, group: readonly Publication[]): Promise<readonly Publication[]>
  /** Leases due deliveries, first attempts before retries; answers them in no order. */
  claim(query: Query, t: Tables, claim: Claim): Promise<readonly DeliveryRecord[]>
  /** Records outcomes and folds health; answers the rows of active webhooks that failed. */
  settle(query: Query, t: Tables, attempts: readonly SettledAttempt[]): Promise<readonly Row[]>
}
