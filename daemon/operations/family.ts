import type { ErrorRow } from '../../lib/errors.ts'
import type { BuiltInEvent } from '../events/types.ts'
import type { FamilyJobs } from '../jobs/handler.ts'
import type { AppExtension } from '../platform.ts'
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
  /** Its extension of apps, which belong to another family. */
  readonly extendsApps?: AppExtension
}

/** A family with typed operations. */
export interface TypedFamily<Typed extends Operation> extends Family {
  /** Never present at run time: it carries types to the client. */
  readonly typed?: Typed
}

/**
 * Declares a family with the types of its operations.
 *
 * @example
 * export const potsFamily = defineFamily({ name: 'pots', …, operations: [boilPot] })
 */
export function defineFamily<const Operations extends readonly Operation[]>(
  declared: Family & { readonly operations: Operations },
): TypedFamily<Operations[number]> {
  return declared
}
