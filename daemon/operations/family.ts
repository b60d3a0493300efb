import type { ErrorRow, KernelErrorCode } from '../../lib/errors.ts'
import type { BuiltInEvent } from '../events/types.ts'
import type { FamilyJobs } from '../jobs/handler.ts'
import type { Records } from '../../plugins/platform/contract/records.ts'
import type { AppExtension } from '../platform.ts'
import { readFamily } from './declared.ts'
import type { HttpErrorCode } from './errors.ts'
import type { Operation } from './operation.ts'

/** A noun of the API with everything it adds, in one value. Removing a family means removing its folder. */
export interface Family {
  readonly name: string
  /** Families that it depends on; it is not served without them. Default: none. */
  readonly needs?: readonly Family[]
  readonly scopes: Readonly<Record<string, readonly string[]>>
  readonly events: readonly BuiltInEvent[]
  /** Its own error codes, each with the message of its response. */
  readonly errors: { readonly rows: Readonly<Record<string, ErrorRow>> }
  readonly operations: readonly Operation[]
  /** Its background jobs: of each kind, one family runs them. Default: none. */
  readonly jobs?: readonly FamilyJobs[]
  /** Its own tables. Default: none. */
  readonly records?: Records
  /** Its extension of apps, which belong to another family. */
  readonly extendsApps?: AppExtension
}

/** The tables of these families. */
export function recordsOf(families: readonly Family[]): readonly Records[] {
  return families.flatMap(({ records }) => (records === undefined ? [] : [records]))
}

/** A family with typed operations and error codes. */
export interface TypedFamily<
  Typed extends Operation,
  Code extends string = string,
  Scopes extends Family['scopes'] = Family['scopes'],
> extends Family {
  readonly scopes: Scopes
  readonly errors: ErrorRows<Code>
  /** Never present at run time: it carries types to the client. */
  readonly typed?: Typed
}

interface ErrorRows<Code extends string> {
  readonly rows: Readonly<Record<Code, ErrorRow>>
}

/** Codes that operations of every family may name. */
type CommonCode = KernelErrorCode | HttpErrorCode

type CodeOf<One> = One extends { readonly errors: ErrorRows<infer Code> } ? Listed<Code> : never

/** Nothing where the codes are not known one by one. */
type Listed<Code extends string> = string extends Code ? never : Code

/** An operation that names no other error codes. */
type Naming<Code extends string> = Operation & { readonly errors: readonly Code[] }

/**
 * Declares a family with the types of its operations, whose error codes are its own, those of families that
 * it needs, and those of every family.
 *
 * @throws TypeError for a family of another form
 * @example
 * export const potsFamily = defineFamily({ name: 'pots', …, operations: [boilPot] })
 */
export function defineFamily<
  const Code extends string,
  const Operations extends readonly Naming<Listed<Code> | CodeOf<Needs[number]> | CommonCode>[],
  const Needs extends readonly Family[] = readonly [],
  const Scopes extends Family['scopes'] = Family['scopes'],
>(
  ...args: readonly [
    family: Family & {
      readonly needs?: Needs
      readonly scopes: Scopes
      readonly errors: ErrorRows<Code>
      readonly operations: Operations
    },
  ]
): TypedFamily<Operations[number], Code, Scopes> {
  readFamily(args)
  return args[0]
}
