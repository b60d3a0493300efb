import type { z } from 'zod'
import type { ByteRange } from '../../plugins/apps/contract.ts'
import type { Access } from '../authority/admission.ts'
import type { AgentUse } from './agent.ts'
import type {
  Call,
  OperationInput,
  OwnCall,
  PublishCall,
  QuoteCall,
  StreamCall,
  WriteCall,
} from './call.ts'
import { readOperation } from './declared.ts'
import type { Cell } from './print-csv.ts'

/**
 * A family whose data an operation returns.
 *
 * The operation's own family, named by its scope, is given by name. Another family declares its
 * restriction, so that no scope reads data of a family that it does not name.
 */
export type Emission = string | ForeignEmission

export interface ForeignEmission {
  readonly family: string
  /** Scope that the caller also needs; without it the data is left out. */
  readonly requires?: string
  /** Why a caller without that family's scope may read it. */
  readonly because: string
}

/** A warning of the CLI that the response itself does not contain. */
export interface CommandWarning {
  /** Path of the list to read for a sent body; undefined: no warning is needed. */
  list(sent: Readonly<Record<string, unknown>>): string | undefined
  /**
   * @param read returns all pages of that list as one response
   */
  describe(
    sent: Readonly<Record<string, unknown>>,
    read: Readonly<Record<string, unknown>>,
  ): readonly string[]
}

/** The price of an operation, without its effect. */
export interface Quote<
  Input extends OperationInput = OperationInput,
  Price extends z.ZodType = z.ZodType,
> {
  readonly output: Price
  readonly example: unknown
  /** Changes nothing. */
  run(call: QuoteCall<Input>): Promise<unknown>
}

/** How the records of a list are rows of a table. */
export interface Csv<Record = never> {
  readonly columns: readonly string[]
  /** One cell for each column. */
  readonly row: (record: Record) => readonly Cell[]
}

/** The records of a page. */
type Listed<Page> = Page extends { readonly data: readonly (infer Record)[] } ? Record : never

/** Declaration common to all effects. */
export interface Declaration<
  Input extends OperationInput,
  Output extends z.ZodType,
  Id extends string,
  Code extends string,
> {
  /** `family.verb`, from which all derived names come. */
  readonly id: Id
  /** One line for documents, tools and the CLI. */
  readonly summary: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/v1/keys/{key_id}` */
  readonly path: string
  readonly access: Access
  /** How agents use it, or why none is offered it. */
  readonly agent: AgentUse
  /** Families whose data it returns: in its response, an error, an event or a prompt. */
  readonly emits: readonly Emission[]
  readonly input: Input
  readonly output: Output
  /**
   * What the OpenAPI document has instead of `input.body` and `output`, of an operation that also accepts what another
   * one is for: generators of clients make no good type of either.
   */
  readonly documented?: { readonly body: z.ZodType; readonly output: z.ZodType }
  /** Status of success. Default 200. */
  readonly status?: number
  /** Whether the returned work is still to be done: the status is 202 then. */
  accepted?(answer: z.input<Output>): boolean
  /** Path of the record that shows the progress, for a status of 202: its `Location`. */
  watch?(answer: z.input<Output>): string
  /** Its own error codes, besides those that every operation shares. */
  readonly errors: readonly Code[]
  readonly example: {
    readonly params?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly response: unknown
    /** Response while the work is still to be done, for an operation with a response of its own for it. */
    readonly accepted?: unknown
  }
  /**
   * Its response for `dry_run=true`, a parameter that its query gets by this: status 200 with the price.
   * The operation itself does not run, and an `Idempotency-Key` is ignored.
   */
  readonly quote?: Quote<Input>
  /** Any cache may keep the response for these seconds: for public reads. */
  readonly cache?: { readonly seconds: number }
  /** Its response for `format=csv`, a parameter that its query gets by this: for lists. */
  readonly csv?: Csv<Listed<z.input<Output>>>
  /** Refuses requests without an `Idempotency-Key`. */
  readonly idempotency?: 'required'
  /** Response fields that are shown once: a replay has null instead. */
  readonly secret?: readonly string[]
  /** Its CLI command, such as `key create`. */
  readonly command?: string
  /**
   * Message of the CLI, which exits with 1, for a 2xx response that reports a failure; undefined for a
   * success.
   */
  readonly failure?: (answer: Readonly<Record<string, unknown>>) => string | undefined
  /**
   * One line of the CLI for a person after a success.
   *
   * @param sent values of the command's fields, by name
   */
  readonly conclusion?: (
    answer: Readonly<Record<string, unknown>>,
    sent: Readonly<Record<string, unknown>>,
  ) => string
  /** Warning of the CLI on stderr after a success. */
  readonly warning?: CommandWarning
  /** A user must have proved their identity within the last ten minutes. */
  readonly stepUp?: boolean
  /** Maximum body in bytes. Default 1 MiB. */
  readonly bodyLimit?: number
  /**
   * Requests pay only for body MiB after the first; `unless_refused`: and when they are refused; `operator`: only
   * the operator's pay less.
   */
  readonly unmetered?: true | 'unless_refused' | 'operator'
}

/** A file for the caller to save under a name. */
export interface Download {
  readonly name: string
  readonly size: number
  /** SHA-256 of the whole file, in hex. */
  readonly sha256: string
  /** Opens the whole file or the requested part; called at most once. */
  open(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
}

/** One server-sent event. */
export interface StreamEvent<Data = unknown> {
  /** Id from which a reconnecting client continues. */
  readonly id?: string
  readonly event: string
  readonly data: Data
}

/** Implementation of an operation. */
export interface Runs<Given, Result> {
  run(call: Given): Promise<Result>
}

/** Steps around the unit of work of a `write`. */
export interface AroundUnit<Input extends OperationInput, Output extends z.ZodType, Prepared> {
  /** Work that takes long or leaves the machine, before the unit of work begins. */
  prepare?(call: Call<Input>): Promise<Prepared>
  /**
   * Deletes what `prepare` stored outside the database, when no commit references it for certain: `run`
   * refused, or did not run. Not called when `prepare` itself rejects.
   */
  discard?(call: Call<Input>, prepared: Prepared): Promise<void>
  /** Called instead of `discard` when an error leaves open whether the unit was committed. */
  onUnknownOutcome?(call: Call<Input>, prepared: Prepared): void
  /**
   * Returns the response after the commit of `run`, such as after waiting for the work that it began. A
   * replay returns the committed response.
   */
  afterCommit?(call: Call<Input>, committed: z.input<Output>): Promise<z.input<Output>>
}

/** How an operation is committed, with the argument and the result of its `run`. */
interface Effects<Input extends OperationInput, Output extends z.ZodType, Prepared> {
  /** Changes nothing. */
  read: Runs<Call<Input>, z.input<Output>>
  /** `run` is one unit of work, together with its idempotency record and audit rows. */
  write: Runs<WriteCall<Input, Prepared>, z.input<Output>> & AroundUnit<Input, Output, Prepared>
  /** Joins the outbox's group commit by itself; with an `Idempotency-Key` it is a unit of work. */
  publish: Runs<PublishCall<Input>, z.input<Output>>
  /** Works outside the database or commits by itself; it claims an `Idempotency-Key` first. */
  own: Runs<OwnCall<Input>, z.input<Output>>
  /** Changes nothing, and responds with a file. */
  bytes: Runs<Call<Input>, Download>
  /**
   * Changes nothing, and responds with server-sent events; `output` is the data of one. An error of `run`
   * is an error response; an error of the events ends them.
   */
  stream: Runs<StreamCall<Input>, AsyncIterable<StreamEvent<z.input<Output>>>>
}

export type Effect = keyof Effects<OperationInput, z.ZodType, unknown>

/** One operation; its route, checks, OpenAPI entry and CLI command derive from it. */
export type Operation<
  One extends Effect = Effect,
  Input extends OperationInput = OperationInput,
  Output extends z.ZodType = z.ZodType,
  Prepared = unknown,
  Id extends string = string,
  Code extends string = string,
> = {
  [Its in One]: { readonly effect: Its } & Declaration<Input, Output, Id, Code> &
    Effects<Input, Output, Prepared>[Its]
}[One]

/** An operation with a price. */
export interface Priced<Input extends OperationInput, Price extends z.ZodType> {
  readonly quote: Quote<Input, Price>
}

/** Effects that change nothing. */
export const READS: ReadonlySet<Effect> = new Set<Effect>(['read', 'bytes', 'stream'])

/**
 * Declares an operation with the types of its input.
 *
 * @throws TypeError for a declaration of another form
 * @example
 * export const boilPot = operation({ effect: 'write', id: 'pots.boil', …, async run({ tx, params }) { … } })
 */
// Several signatures: the result of `prepare` is inferred only where the effect is known, and a price only
// where there is one.
export function operation<
  const Id extends string,
  const Code extends string,
  Input extends OperationInput,
  Output extends z.ZodType,
  Price extends z.ZodType,
  Prepared = undefined,
>(
  declared: Operation<'write', Input, Output, Prepared, Id, Code> & Priced<Input, Price>,
): Operation<'write', Input, Output, Prepared, Id, Code> & Priced<Input, Price>
export function operation<
  const Id extends string,
  const Code extends string,
  One extends Exclude<Effect, 'write'>,
  Input extends OperationInput,
  Output extends z.ZodType,
  Price extends z.ZodType,
>(
  declared: Operation<One, Input, Output, undefined, Id, Code> & Priced<Input, Price>,
): Operation<One, Input, Output, undefined, Id, Code> & Priced<Input, Price>
export function operation<
  const Id extends string,
  const Code extends string,
  Input extends OperationInput,
  Output extends z.ZodType,
  Prepared = undefined,
>(
  declared: Operation<'write', Input, Output, Prepared, Id, Code>,
): Operation<'write', Input, Output, Prepared, Id, Code>
export function operation<
  const Id extends string,
  const Code extends string,
  One extends Exclude<Effect, 'write'>,
  Input extends OperationInput,
  Output extends z.ZodType,
>(
  declared: Operation<One, Input, Output, undefined, Id, Code>,
): Operation<One, Input, Output, undefined, Id, Code>
export function operation(...args: readonly [operation: Operation]): Operation {
  readOperation(args)
  return args[0]
}
