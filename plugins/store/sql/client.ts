import type { Claim, Publication, Settlement } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
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
  /**
   * One transaction: all of it or nothing. Concurrent calls never see each other's middle.
   *
   * @param committed runs right after the commit, before anything else writes
   */
  transaction<T>(work: (query: Query) => Promise<T>, committed?: () => void): Promise<T>
  /**
   * Single statements, each its own commit, in one turn of the writer: nothing else writes between
   * the start of `work` and its end.
   */
  exclusive<T>(work: (statement: Query) => Promise<T>): Promise<T>
  /**
   * Statements on the connection of a transaction that somebody else began and will end.
   *
   * @throws TypeError for what is no such connection
   */
  join(transaction: unknown): Query
  /** As in the store's contract. */
  watch?(listener: () => void): () => void
  /** As in the store's contract. */
  hold?<T>(
    work: (aged: AbortSignal) => Promise<T>,
    options: { readonly maxAge: Millis },
  ): Promise<T>
  close(): Promise<void>
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
  /** The place of an event. */
  print(row: Row): string
  /** What `print` may answer. */
  readonly format: RegExp
}

/** Statements over many rows at once, whose shapes differ too much to share pieces. */
export interface Groups {
  /**
   * Commits events with their deliveries in one statement. Answers the events that were kept already,
   * by somebody who was not seen before, as their publications: of those nothing was inserted.
   */
  publish(query: Query, t: Tables, group: readonly Publication[]): Promise<readonly Publication[]>
  /** Leases due deliveries, first attempts before retries; answers their rows in no order. */
  claim(query: Query, t: Tables, claim: Claim): Promise<readonly Row[]>
  /** Records outcomes and folds health; answers the rows of active webhooks that failed. */
  settle(query: Query, t: Tables, settlement: Settlement): Promise<readonly Row[]>
}
