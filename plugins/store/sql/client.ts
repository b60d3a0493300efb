import type {
  Claim,
  DeliveryRecord,
  Publication,
  SettledAttempt,
  WriteOptions,
} from '../../../lib/engine/ports.ts'
import type { Change, OwnChanges } from '../../../lib/engine/changes.ts'
import type { Instant, Millis } from '../../../lib/time.ts'
import type { ConnectionUse } from '../contract.ts'
import type { Row } from './rows.ts'
import type { Tables } from './tables.ts'

/** Runs one statement; values are bound by position ($1, $2, …) and never become SQL text. */
export type Query = <Row extends object = Record<string, unknown>>(
  sql: string,
  bind?: readonly unknown[],
) => Promise<Row[]>

/**
 * The database client of the SQL store. For a database that one process writes, `createOneWriterClient` in `../sql.ts`
 * makes one of a few parts.
 */
export interface SqlClient {
  readonly dialect: Dialect
  /** Reads what is committed. */
  readonly read: Query
  /** As `read`, for long searches: other reads do not wait for them. */
  readonly search: Query
  /** Runs one transaction. Transactions are serialized. */
  transaction<T>(work: (query: Query) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Runs single statements, each with its own commit. Calls of one purpose are serialized; on a database
   * with one writer all calls are, and transactions too.
   */
  exclusive<T>(purpose: Purpose, work: (statement: Query) => Promise<T>): Promise<T>
  readonly changes: OwnChanges
  /** Prefix of the claim tokens of this process. */
  readonly claimant: string
  /** As in the store's contract. */
  now?(): Instant
  /** As in the store's contract. */
  announce?(webhookIds: readonly string[]): void
  /** As in the store's contract. */
  onSilence?(listener: (processes: readonly string[]) => void): void
  /**
   * Statements on the connection of a transaction that the embedder began and will end.
   *
   * @throws TypeError for anything else
   */
  join(transaction: unknown): Query
  /** As in the store's contract. */
  watch?(listener: (webhookIds?: readonly string[]) => void): () => void
  /** As in the store's contract. */
  hold?<T>(
    work: (aged: AbortSignal) => Promise<T>,
    options: { readonly maxAge: Millis },
  ): Promise<T>
  /**
   * Holds off other processes until the transaction ends, where several may share the database.
   *
   * @throws Error while any of them runs
   */
  requireAlone?(query: Query): Promise<void>
  /** The use of its connections. Default: not known. */
  connectionUse?(): ConnectionUse | undefined
  close(): Promise<void>
}

export type Purpose = 'publish' | 'claim' | 'settle' | 'purge' | 'ping'

export interface TransactionOptions extends WriteOptions {
  /** Changes of cached data. Read before the commit and emitted before the call resolves. */
  changes?(): readonly Change[]
  /** Runs right after the commit, before the call resolves. */
  committed?(): void
  /** Maximum wait for the lock. Default: 5 s on a shared database. */
  readonly maxWait?: Millis
}

/** SQL fragments in which the two databases differ; statements are written once with them. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** A statement: the `name` of each table that unqualified names can mean, those of the database itself left out. */
  readonly tableNames: string
  /** Column type of raw bytes. */
  readonly bytes: string
  /** Column type of identifiers, compared bytewise. */
  readonly id: string
  /** Column type of a position that only increases. */
  readonly serial: string
  /** Storage clause for tables that are their primary key. */
  readonly clustered: string
  /** A condition: `column` is among the JSON array bound at `parameter`. */
  among(column: string, parameter: string): string
  /** A condition: every element of the JSON array in `column` is among that bound at `parameter`. */
  within(column: string, parameter: string): string
  /**
   * A table named `alias` of the JSON array of arrays bound at `parameter`. `alias.value ->> 0` is the
   * first element of a row, as text.
   */
  each(parameter: string, alias: string): string
  /** A value: the JSON array, as text, of an array of these columns for each row of a group, in no order. */
  gather(columns: readonly string[]): string
  /** The text of a field of the JSON object in `column`. */
  field(column: string, name: string): string
  /** The id of the master key of a ciphertext or fingerprint; empty for any other text. */
  encryptedUnder(text: string): string
  /** A condition on a claimed delivery: its process has ended. The id of this process is bound at `id`. */
  abandoned(t: Tables, id: string): string
  /** Suffix of a SELECT before an update: locks its rows and skips rows that others have locked. */
  readonly skipLocked: string
  /**
   * Runs a statement of a unit that may violate a unique index because of a concurrent commit. On a
   * conflict it returns no rows, changes nothing, and the unit continues.
   */
  onConflict(query: Query, sql: string, bind: readonly unknown[]): Promise<readonly Row[]>
  readonly feed: Feed
  readonly groups: Groups
}

export type Way = 'asc' | 'desc'

/** The order of events: nothing is committed before a cursor that a reader has passed. */
export interface Feed {
  /** Run in a transaction of its own at each opening, once the schema is up to date. */
  prepare?(query: Query, t: Tables): Promise<void>
  /** Columns of the table of events that only the cursor needs. */
  readonly columns: string
  /** The columns that order it, first to last. */
  readonly key: readonly string[]
  /** A condition: no event can be committed before this one any more. */
  settled(t: Tables): string
  /** A condition: after the cursor bound at `parameter`. */
  beyond(way: Way, parameter: string): string
  /** A condition: at or before the cursor bound at `parameter`. */
  upTo(way: Way, parameter: string): string
  /** The cursor of an event. */
  print(row: Row): string
  /** An expression: a cursor after every committed event. */
  last(t: Tables): string
  /** The format of `print`: numbers separated by hyphens. */
  readonly format: RegExp
}

/** Statements over many rows, which differ too much to share fragments. */
export interface Groups {
  /**
   * Commits events with their deliveries in one statement. Returns the publications whose events were
   * committed concurrently by another publisher: of those nothing was inserted.
   */
  publish(query: Query, t: Tables, group: readonly Publication[]): Promise<readonly Publication[]>
  /** Leases due deliveries, first attempts before retries; returns them in no order. */
  claim(query: Query, t: Tables, claim: Claim): Promise<readonly DeliveryRecord[]>
  /** Records outcomes and updates health; returns the rows of active webhooks that failed. */
  settle(query: Query, t: Tables, attempts: readonly SettledAttempt[]): Promise<readonly Row[]>
}
