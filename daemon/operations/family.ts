import type { z } from 'zod'
import type { ErrorRow } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import type { ByteRange } from '../../plugins/apps/contract.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { Access } from '../authority/access.ts'
import type { BuiltInEvent } from '../events/types.ts'
import type { FormInput, GivenPart, PartsInput } from './parts.ts'
import type { AppExtension, Platform } from '../platform.ts'
import type { Principal } from '../authority/principal.ts'

export interface OperationInput {
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** How `body` may be sent beside JSON. */
  readonly form?: FormInput
  /** A multipart body in place of `body`, for an operation whose effect is `own`. */
  readonly parts?: PartsInput
}

type Part<Schema> = Schema extends z.ZodType ? z.output<Schema> : Readonly<Record<string, never>>

/** What `run` is given. */
export interface Call<Input extends OperationInput = OperationInput, Prepared = undefined> {
  readonly platform: Platform
  readonly principal: Principal
  readonly params: Part<Input['params']>
  readonly query: Part<Input['query']>
  readonly body: Part<Input['body']>
  /** The body's text as it came, for what must be kept to the byte. */
  readonly bodyText: string
  readonly prepared: Prepared
  readonly now: Instant
  readonly requestId: string
  /** The caller's address, for throttling alone. */
  readonly ip: string
  readonly response: ResponseHead
  /**
   * Counts what the answer is going to hold, before it is read.
   *
   * @param bytes at least of what is large in it; the most of several calls counts
   * @throws KeyhookError `too_many_bytes`
   */
  reserve(bytes: number): void
  /**
   * Aborts with `request_abandoned` once nobody waits for the response: for work that waits or takes long.
   */
  abandoned(): AbortSignal
  /**
   * For work that waits for its turn: until it begins, the request's body gives way when others need the
   * bytes more.
   */
  waiting(): Waiting
  /**
   * Takes tokens of the rate limits for bytes that the operation is about to copy, as a body of that size
   * would cost.
   *
   * @throws KeyhookError `rate_limited`
   */
  charge(bytes: number): void
  /** To be called once where something is refused by a response that is no error: the request pays for it. */
  countRefusal(): void
  /**
   * Looks whether the caller still may do this: for what goes on for a while.
   *
   * @throws KeyhookError as a request would be refused that came now
   */
  admit(): Promise<void>
}

/** Work of a call that waits for its turn. */
export interface Waiting {
  /** Aborts as `abandoned()` does, and with `too_many_bytes` when the body gave way. */
  readonly signal: AbortSignal
  /**
   * To be called when the turn begins: from now on the body is kept. Rejects when a request with the same
   * `Idempotency-Key` was answered meanwhile, so that the work is not done again.
   */
  begin(): Promise<void>
}

/** A call inside a unit of work. */
export interface WriteCall<
  Input extends OperationInput = OperationInput,
  Prepared = undefined,
> extends Call<Input, Prepared> {
  readonly tx: PlatformTx
}

/** A call that commits by itself. */
export interface OwnCall<Input extends OperationInput = OperationInput> extends Call<Input> {
  /** What `input.parts` declares, as it comes in. */
  readonly parts: AsyncIterable<GivenPart>
  /**
   * Runs `work` as one unit, in which the caller still may do this.
   *
   * @param options.detached runs it also when the client has disconnected. Default false
   * @throws KeyhookError as a request would be refused that came now
   */
  unit<T>(
    work: (tx: PlatformTx) => Promise<T>,
    options?: { readonly detached?: boolean },
  ): Promise<T>
}

export interface ResponseHead {
  setCookie(cookie: ResponseCookie, value: string, expires: Instant): void
  clearCookie(cookie: ResponseCookie): void
}

/** A cookie of path `/` that no script of a page can read. */
export interface ResponseCookie {
  readonly name: string
  readonly secure: boolean
  readonly sameSite: 'lax' | 'strict'
}

/**
 * A family whose data an operation lets out.
 *
 * Its own family, the one that its scope names, stands as a name. Another family says what bounds it, so
 * that no scope reads what it does not name.
 */
export type Emission = string | ForeignEmission

export interface ForeignEmission {
  readonly family: string
  /** The scope that the caller must hold too; without it the data is left out. */
  readonly requires?: string
  /** Why a caller without that family's scope may read it. */
  readonly because: string
}

/** A warning of the CLI, where the response itself has no place for one. */
export interface CommandWarning {
  /** The path of a list to read before judging a sent body; undefined: there is nothing to warn of. */
  list(sent: Readonly<Record<string, unknown>>): string | undefined
  /** @param read all pages of that list, as one response */
  describe(
    sent: Readonly<Record<string, unknown>>,
    read: Readonly<Record<string, unknown>>,
  ): readonly string[]
}

interface Declaration<
  Input extends OperationInput,
  Output extends z.ZodType,
  Id extends string = string,
> {
  /** `family.verb`, the name that everything derived from it bears. */
  readonly id: Id
  /** One line for documents, tools and the CLI. */
  readonly summary: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/v1/keys/{key_id}` */
  readonly path: string
  readonly access: Access
  /** Families whose data leaves by it: in its response, an error, an event or a prompt. */
  readonly emits: readonly Emission[]
  readonly input: Input
  readonly output: Output
  /** The status of success. Default 200. */
  readonly status?: number
  /** Whether what is answered is still to be carried out: its status is 202 then. */
  accepted?(answer: z.input<Output>): boolean
  /** The path of the record that tells how far it is, where the status is 202: its `Location`. */
  watch?(answer: z.input<Output>): string
  /** Codes of its own, besides those that every operation shares. */
  readonly errors: readonly string[]
  readonly example: {
    readonly params?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly response: unknown
    /** What is answered where the work is still to be done, for an operation that tells it apart. */
    readonly accepted?: unknown
  }
  /** Fields of the answer that are shown once: a replay shows null in their place. */
  readonly secret?: readonly string[]
  /** The CLI command it also is, such as `key create`. */
  readonly command?: string
  /**
   * What the CLI says, exiting 1, where the answer is a 2xx that tells of a failure; undefined for a success.
   */
  readonly failure?: (answer: Readonly<Record<string, unknown>>) => string | undefined
  /**
   * The CLI's one line for a person after a success.
   *
   * @param sent the values of the command's fields, by name
   */
  readonly conclusion?: (
    answer: Readonly<Record<string, unknown>>,
    sent: Readonly<Record<string, unknown>>,
  ) => string
  /** What the CLI warns of on stderr after a success. */
  readonly warning?: CommandWarning
  /** A user must have proved who they are within the last ten minutes. */
  readonly stepUp?: boolean
  /** Bytes of the largest body. Default 1 MiB. */
  readonly bodyLimit?: number
  /** Requests pay only for body MiB after the first; `unless_refused`: and when they are refused. */
  readonly unmetered?: true | 'unless_refused'
}

export interface ReadOperation<
  Input extends OperationInput,
  Output extends z.ZodType,
  Id extends string = string,
> extends Declaration<Input, Output, Id> {
  readonly effect: 'read'
  run(call: Call<Input>): Promise<z.input<Output>>
}

export interface WriteOperation<
  Input extends OperationInput,
  Output extends z.ZodType,
  Prepared,
  Id extends string = string,
> extends Declaration<Input, Output, Id> {
  readonly effect: 'write'
  /** Work that takes long or leaves the machine, before the unit of work begins. */
  prepare?(call: Call<Input>): Promise<Prepared>
  run(call: WriteCall<Input, Prepared>): Promise<z.input<Output>>
  /**
   * Deletes what `prepare` kept outside the database, when it is certain that nothing committed names it:
   * `run` refused, or did not run. Not called when `prepare` itself rejects.
   */
  discard?(call: Call<Input>, prepared: Prepared): Promise<void>
  /** Called in place of `discard` when an error leaves open whether the unit was committed. */
  doubt?(call: Call<Input>, prepared: Prepared): void
  /**
   * What is answered in place of what `run` did, once that is committed; such as after waiting for what
   * it began. A replay answers what was committed.
   */
  afterCommit?(call: Call<Input>, committed: z.input<Output>): Promise<z.input<Output>>
}

export interface PublishOperation<
  Input extends OperationInput,
  Output extends z.ZodType,
  Id extends string = string,
> extends Declaration<Input, Output, Id> {
  readonly effect: 'publish'
  run(call: Call<Input> & { readonly tx: PlatformTx | undefined }): Promise<z.input<Output>>
}

export interface OwnOperation<
  Input extends OperationInput,
  Output extends z.ZodType,
  Id extends string = string,
> extends Declaration<Input, Output, Id> {
  readonly effect: 'own'
  run(call: OwnCall<Input>): Promise<z.input<Output>>
}

/** Bytes to be kept by whoever asked, under a name. */
export interface Download {
  readonly name: string
  readonly size: number
  /** Of all of it, in hex. */
  readonly sha256: string
  /** All of it, or the part that was asked for; called at most once. */
  open(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
}

export interface BytesOperation<
  Input extends OperationInput,
  Output extends z.ZodType,
  Id extends string = string,
> extends Declaration<Input, Output, Id> {
  readonly effect: 'bytes'
  run(call: Call<Input>): Promise<Download>
}

/** One server-sent event. */
export interface StreamEvent<Data = unknown> {
  /** Where a client that comes back goes on from. */
  readonly id?: string
  readonly event: string
  readonly data: Data
}

export interface StreamOperation<
  Input extends OperationInput,
  Output extends z.ZodType,
  Id extends string = string,
> extends Declaration<Input, Output, Id> {
  readonly effect: 'stream'
  /**
   * Answers what is to come. What it throws is answered as an error; what the events throw ends them.
   *
   * @param call.after the id of the last event that the client has; empty for all
   * @param call.left aborts once nobody reads them; what waits for more must end then
   */
  run(
    call: Call<Input> & { readonly after: string; readonly left: AbortSignal },
  ): Promise<AsyncIterable<StreamEvent<z.input<Output>>>>
}

/**
 * One thing that can be asked for; route, checks, OpenAPI entry and CLI command derive from it.
 *
 * Its effect decides how it is committed:
 * - `read`: nothing changes;
 * - `write`: `run` is one unit of work, together with its idempotency record and audit rows;
 * - `publish`: by itself it joins the outbox's group commit; under an `Idempotency-Key` it is a unit of work;
 * - `own`: it works outside the database or commits by itself; an `Idempotency-Key` is claimed first;
 * - `bytes`: nothing changes, and the answer is a file;
 * - `stream`: nothing changes, and the answer goes on as server-sent events; `output` is the data of one.
 */
export type Operation =
  | ReadOperation<OperationInput, z.ZodType>
  | WriteOperation<OperationInput, z.ZodType, unknown>
  | PublishOperation<OperationInput, z.ZodType>
  | OwnOperation<OperationInput, z.ZodType>
  | BytesOperation<OperationInput, z.ZodType>
  | StreamOperation<OperationInput, z.ZodType>

/** Effects that change nothing. */
export const READS: ReadonlySet<Operation['effect']> = new Set(['read', 'bytes', 'stream'] as const)

/** A noun of the API: everything it adds, in one value. Removing a family is removing its folder. */
export interface Family {
  readonly name: string
  /** Families that it stands on: it is not served without them. Default none. */
  readonly needs?: readonly Family[]
  readonly scopes: Readonly<Record<string, readonly string[]>>
  readonly events: readonly BuiltInEvent[]
  /** Its own codes, each with what a caller sees. */
  readonly errors: { readonly rows: Readonly<Record<string, ErrorRow>> }
  readonly operations: readonly Operation[]
  /** What it adds to apps, where another family keeps them. */
  readonly extendsApps?: AppExtension
}

/** A family that knows the types of its operations. */
export interface TypedFamily<Typed extends Operation> extends Family {
  /** Never there: it carries types to the client. */
  readonly typed?: Typed
}

/**
 * Declares a family, with the types of its operations carried into the client.
 *
 * @example
 * export const potsFamily = defineFamily({ name: 'pots', …, operations: [boilPot] })
 */
export function defineFamily<const Operations extends readonly Operation[]>(
  declared: Family & { readonly operations: Operations },
): TypedFamily<Operations[number]> {
  return declared
}

/** Declares an operation, with the types of its input carried into `run` and into the client. */
export function readOperation<
  const Id extends string,
  Input extends OperationInput,
  Output extends z.ZodType,
>(declared: Omit<ReadOperation<Input, Output, Id>, 'effect'>): ReadOperation<Input, Output, Id> {
  return { ...declared, effect: 'read' }
}

export function writeOperation<
  const Id extends string,
  Input extends OperationInput,
  Output extends z.ZodType,
  Prepared = undefined,
>(
  declared: Omit<WriteOperation<Input, Output, Prepared, Id>, 'effect'>,
): WriteOperation<Input, Output, Prepared, Id> {
  return { ...declared, effect: 'write' }
}

export function publishOperation<
  const Id extends string,
  Input extends OperationInput,
  Output extends z.ZodType,
>(
  declared: Omit<PublishOperation<Input, Output, Id>, 'effect'>,
): PublishOperation<Input, Output, Id> {
  return { ...declared, effect: 'publish' }
}

export function ownOperation<
  const Id extends string,
  Input extends OperationInput,
  Output extends z.ZodType,
>(declared: Omit<OwnOperation<Input, Output, Id>, 'effect'>): OwnOperation<Input, Output, Id> {
  return { ...declared, effect: 'own' }
}

export function bytesOperation<
  const Id extends string,
  Input extends OperationInput,
  Output extends z.ZodType,
>(declared: Omit<BytesOperation<Input, Output, Id>, 'effect'>): BytesOperation<Input, Output, Id> {
  return { ...declared, effect: 'bytes' }
}

export function streamOperation<
  const Id extends string,
  Input extends OperationInput,
  Output extends z.ZodType,
>(
  declared: Omit<StreamOperation<Input, Output, Id>, 'effect'>,
): StreamOperation<Input, Output, Id> {
  return { ...declared, effect: 'stream' }
}
