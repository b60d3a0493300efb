import type { z } from 'zod'
import type { ByteRange } from '../../plugins/apps/contract.ts'
import type { Access } from '../authority/admission.ts'
import type { Call, OperationInput, OwnCall, PublishCall, StreamCall, WriteCall } from './call.ts'

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

/** What an operation declares whatever its effect is. */
export interface Declaration<
  Input extends OperationInput,
  Output extends z.ZodType,
  Id extends string,
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

/** Bytes to be kept by whoever asked, under a name. */
export interface Download {
  readonly name: string
  readonly size: number
  /** Of all of it, in hex. */
  readonly sha256: string
  /** All of it, or the part that was asked for; called at most once. */
  open(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
}

/** One server-sent event. */
export interface StreamEvent<Data = unknown> {
  /** Where a client that comes back goes on from. */
  readonly id?: string
  readonly event: string
  readonly data: Data
}

/** What is done when an operation is asked for. */
export interface Runs<Given, Result> {
  run(call: Given): Promise<Result>
}

/** What may stand around the unit of work of a `write`. */
export interface AroundUnit<Input extends OperationInput, Output extends z.ZodType, Prepared> {
  /** Work that takes long or leaves the machine, before the unit of work begins. */
  prepare?(call: Call<Input>): Promise<Prepared>
  /**
   * Deletes what `prepare` kept outside the database, when it is certain that nothing committed names it:
   * `run` refused, or did not run. Not called when `prepare` itself rejects.
   */
  discard?(call: Call<Input>, prepared: Prepared): Promise<void>
  /** Called in place of `discard` when an error leaves open whether the unit was committed. */
  onUnknownOutcome?(call: Call<Input>, prepared: Prepared): void
  /**
   * What is answered in place of what `run` did, once that is committed; such as after waiting for what
   * it began. A replay answers what was committed.
   */
  afterCommit?(call: Call<Input>, committed: z.input<Output>): Promise<z.input<Output>>
}

/** How an operation is committed, and what its `run` is given and answers. */
interface Effects<Input extends OperationInput, Output extends z.ZodType, Prepared> {
  /** Nothing changes. */
  read: Runs<Call<Input>, z.input<Output>>
  /** `run` is one unit of work, together with its idempotency record and audit rows. */
  write: Runs<WriteCall<Input, Prepared>, z.input<Output>> & AroundUnit<Input, Output, Prepared>
  /** By itself it joins the outbox's group commit; under an `Idempotency-Key` it is a unit of work. */
  publish: Runs<PublishCall<Input>, z.input<Output>>
  /** It works outside the database or commits by itself; an `Idempotency-Key` is claimed first. */
  own: Runs<OwnCall<Input>, z.input<Output>>
  /** Nothing changes, and the answer is a file. */
  bytes: Runs<Call<Input>, Download>
  /**
   * Nothing changes, and the answer goes on as server-sent events; `output` is the data of one. What `run`
   * throws is answered as an error; what the events throw ends them.
   */
  stream: Runs<StreamCall<Input>, AsyncIterable<StreamEvent<z.input<Output>>>>
}

export type Effect = keyof Effects<OperationInput, z.ZodType, unknown>

/** One thing that can be asked for; route, checks, OpenAPI entry and CLI command derive from it. */
export type Operation<
  One extends Effect = Effect,
  Input extends OperationInput = OperationInput,
  Output extends z.ZodType = z.ZodType,
  Prepared = unknown,
  Id extends string = string,
> = {
  [Its in One]: { readonly effect: Its } & Declaration<Input, Output, Id> &
    Effects<Input, Output, Prepared>[Its]
}[One]

/** Effects that change nothing. */
export const READS: ReadonlySet<Effect> = new Set<Effect>(['read', 'bytes', 'stream'])

/**
 * Declares an operation, with the types of its input carried into `run` and into the client.
 *
 * @example
 * export const boilPot = operation({ effect: 'write', id: 'pots.boil', …, async run({ tx, params }) { … } })
 */
// Two signatures: what `prepare` answers is inferred only where the effect is known.
export function operation<
  const Id extends string,
  Input extends OperationInput,
  Output extends z.ZodType,
  Prepared = undefined,
>(
  declared: Operation<'write', Input, Output, Prepared, Id>,
): Operation<'write', Input, Output, Prepared, Id>
export function operation<
  const Id extends string,
  One extends Exclude<Effect, 'write'>,
  Input extends OperationInput,
  Output extends z.ZodType,
>(
  declared: Operation<One, Input, Output, undefined, Id>,
): Operation<One, Input, Output, undefined, Id>
export function operation(declared: Operation): Operation {
  return declared
}
