import type { z } from 'zod'
import type { OperationInput } from '../operations/call.ts'
import type { Operation } from '../operations/operation.ts'
import type { FormInput, PartSpec, PartsInput } from '../operations/parts.ts'
import type { Known } from './route.ts'

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call; the service may have completed it. */
  readonly signal?: AbortSignal
  /** Default for every POST: a random key, so that it can be retried. */
  readonly idempotencyKey?: string
}

/** A client of operations: `client.<family>.<verb>`, by the operations' ids. */
export type Client<Op extends Operation> = {
  readonly [Family in FamilyOf<Op['id']>]: {
    readonly [One in Op as VerbIn<Family, One['id']>]: Method<One>
  }
}

/** The operations of families with known types. */
export type OperationsOf<Family extends { readonly typed?: unknown }> = Known<Family['typed']>

type FamilyOf<Id extends string> = Id extends `${infer Family}.${string}` ? Camel<Family> : never

type VerbIn<Family extends string, Id extends string> = Id extends `${infer Own}.${infer Verb}`
  ? Camel<Own> extends Family
    ? Camel<Verb>
    : never
  : never

type Camel<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text

/** A list also has `all`, which iterates over its pages. */
type Method<One extends Operation> = Called<One> &
  (z.input<One['output']> extends Page<infer Entry>
    ? { readonly all: Walk<One['input'], Entry> }
    : unknown)

/** A dry run of an operation with a price returns the price. */
type Called<One extends Operation> = One extends {
  readonly quote: { readonly output: infer Price extends z.ZodType }
}
  ? Call<One['input'], z.input<Price>, { readonly dry_run: 'true' }> &
      Call<One['input'], z.input<One['output']>, { readonly dry_run?: 'false' }>
  : Call<One['input'], z.input<One['output']>>

interface Page<Entry> {
  readonly data: readonly Entry[]
  readonly next_cursor: string | null
}

/** The argument is optional when no field is required. */
type Call<Input extends OperationInput, Answer, More = unknown> =
  Record<never, never> extends Flat<Given<Input> & More>
    ? Answering<[given?: Flat<Given<Input> & More>], Answer>
    : Answering<[given: Flat<Given<Input> & More>], Answer>

/** What is shown once is there, unless an `Idempotency-Key` of the caller's may be an earlier call's. */
type Answering<Args extends readonly unknown[], Answer> = Answer extends
  | { readonly key: string | null }
  | { readonly secret: string | null }
  ? {
      (...args: [...Args, options?: OwnOptions]): Promise<Shown<Answer>>
      (...args: [...Args, options?: CallOptions]): Promise<Answer>
    }
  : (...args: [...Args, options?: CallOptions]) => Promise<Answer>

interface OwnOptions extends CallOptions {
  readonly idempotencyKey?: never
}

/** Names of response fields with values that are shown once. */
type ShownOnce = 'key' | 'secret'

type Shown<Answer> = {
  [Name in keyof Answer]: Name extends ShownOnce ? NonNullable<Answer[Name]> : Answer[Name]
}

type Walk<Input extends OperationInput, Entry> =
  Record<never, never> extends Given<Input>
    ? (given?: Given<Input>, options?: CallOptions) => AsyncGenerator<Entry, void>
    : (given: Given<Input>, options?: CallOptions) => AsyncGenerator<Entry, void>

/** One argument for path, query and body. */
type Given<Input extends OperationInput> = Flat<
  Part<Input['params']> &
    Query<Part<Input['query']>> &
    Formed<Part<Input['body']>, Input['form']> &
    Parts<Input['parts']>
>

/** A field that a form sends as files accepts files. */
type Formed<Fields, Form> = Form extends FormInput
  ? {
      readonly [Name in keyof Fields]: Name extends FileNames<Form['parts']>
        ? Fields[Name] | readonly Blob[]
        : Fields[Name]
    }
  : Fields

type FileNames<Declared extends PartsInput> = {
  [Name in keyof Declared]: Declared[Name]['kind'] extends 'file' ? Name : never
}[keyof Declared]

/** Files are lists of blobs; a `File` has its own name. */
type Parts<Declared> = Declared extends PartsInput
  ? {
      readonly [Name in keyof Declared as Declared[Name]['least'] extends 0 ? never : Name]: PartOf<
        Declared[Name]
      >
    } & {
      readonly [
        Name in keyof Declared as Declared[Name]['least'] extends 0 ? Name : never
      ]?: PartOf<Declared[Name]>
    }
  : unknown

type PartOf<Spec extends PartSpec> = Spec['kind'] extends 'file' ? readonly Blob[] : string

/** An optional body makes its fields optional. */
type Part<Schema> = Schema extends z.ZodType
  ? undefined extends z.input<Schema>
    ? Partial<Named<NonNullable<z.input<Schema>>>>
    : z.input<Schema>
  : unknown

/** A body that has no fields would forbid those of the path. */
type Named<Fields> = string extends keyof Fields ? unknown : Fields

/** A query only has texts; the client prints numbers. */
type Query<Fields> = {
  readonly [Name in keyof Fields]: string extends Fields[Name]
    ? Fields[Name] | number
    : Fields[Name]
}

/** One plain object, as editors show it; a union is flattened member by member. */
type Flat<Fields> = Fields extends object ? { readonly [Name in keyof Fields]: Fields[Name] } : {}
