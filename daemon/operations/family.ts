import type { ErrorRow } from '../../lib/errors.ts'
import type { BuiltInEvent } from '../events/types.ts'
import type { AppExtension } from '../platform.ts'
import type { Operation } from './operation.ts'

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
