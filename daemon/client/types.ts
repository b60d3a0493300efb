import type { z } from 'zod'
import type { OperationInput } from '../operations/call.ts'
import type { Operation } from '../operations/operation.ts'
import type { FormInput, PartSpec, PartsInput } from '../operations/parts.ts'
import type { Known } from './route.ts'

/** Options of one call. */
export interface CallOptions {
  /** Ends the call; what the service has done by then stays done. */
  readonly signal?: AbortSignal
  /** Default for every POST: a random one, so that it can be tried again. */
  readonly idempotencyKey?: string
}

/** A client of operations: `client.<family>.<verb>`, by the operations' ids. */
export type Client<Op extends Operation> = {
  readonly [Family in FamilyOf<Op['id']>]: {
    readonly [One in Op as VerbIn<Family, One['id']>]: Method<One>
  }
}

/** The operations of families, as far as their types are known. */
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

/** A list also has `all`, which walks its pages. */
type Method<One extends Operation> = Call<One['input'], z.input<One['output']>> &
  (z.input<One['output']> extends Page<infer Entry>
    ? { readonly all: Walk<One['input'], Entry> }
    : unknown)

interface Page<Entry> {
  readonly data: readonly Entry[]
  readonly next_cursor: string | null
}

/** The argument may be left out when none of its fields is needed. */
type Call<Input extends OperationInput, Answer> =
  Record<never, never> extends Given<Input>
    ? (given?: Given<Input>, options?: CallOptions) => Promise<Answer>
    : (given: Given<Input>, options?: CallOptions) => Promise<Answer>

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

/** A field that a form sends as files may be given as such. */
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

/** Files are lists of blobs; a `File` says its name. */
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

/** A body that may be missing is one whose fields may be. */
type Part<Schema> = Schema extends z.ZodType
  ? undefined extends z.input<Schema>
    ? Partial<NonNullable<z.input<Schema>>>
    : z.input<Schema>
  : unknown

/** The wire has text alone; the client writes numbers as such. */
type Query<Fields> = {
  readonly [Name in keyof Fields]: string extends Fields[Name]
    ? Fields[Name] | number
    : Fields[Name]
}

/** One plain object, as editors should show it; of several forms each. */
type Flat<Fields> = Fields extends object ? { readonly [Name in keyof Fields]: Fields[Name] } : {}
