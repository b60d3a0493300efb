/**
 * A command of the command line as data, derived from its operation. The command line runs from these alone: it loads
 * no family, no schema and no service.
 *
 * @module
 */
import type { Operation } from './operation.ts'

/** Where a daemon describes, on its control socket, the commands of families that plugins bring. */
export const COMMANDS_PATH = '/commands'

/** How the text of a field is parsed. */
export type FieldKind =
  | 'text'
  | 'time'
  | 'expiry'
  | 'integer'
  | 'number'
  | 'flag'
  | 'list'
  | 'json'
  | 'secret'
  | 'files'

/** One field of an operation's input, as the command line takes it. */
export interface Field {
  /** Name on the wire: `grace_seconds`. */
  readonly name: string
  readonly location: 'path' | 'query' | 'body' | 'part'
  readonly kind: FieldKind
  readonly required?: boolean
  /** Whether the text `null` means null. */
  readonly nullable?: boolean
  readonly description: string
  /** Whether omitting it means the same as false. */
  readonly isOff?: boolean
  /** Accepted values; undefined: any. */
  readonly choices?: readonly string[] | undefined
}

export interface CommandSpec extends Pick<
  Operation,
  'id' | 'summary' | 'method' | 'path' | 'secret'
> {
  readonly example: Omit<Operation['example'], 'response' | 'accepted'>
  /** `key` of `keyhook key create`. */
  readonly group: string
  readonly verb: string
  readonly positionals: readonly Field[]
  readonly options: readonly Field[]
  /** Whether a request needs its body; undefined: it has none. */
  readonly body?: 'required' | 'optional'
  /** Names of the parts of a multipart body; undefined: it has none. */
  readonly parts?: readonly string[]
  /** Whether fields given as files are sent as a form. */
  readonly isForm?: boolean
  /** Whether `dry_run` is answered by a price. */
  readonly isPriced?: boolean
  readonly isCsv?: boolean
  /** Whether its operation has functions that judge or explain the response. */
  readonly isExplained?: boolean
}

/** Commands as JSON; what is false is left out. */
export function printCommands(specs: readonly CommandSpec[]): string {
  return JSON.stringify(specs, (_, value: unknown) => (value === false ? undefined : value))
}

/** What an operation says to the person at a terminal. */
export type CommandFunctions = Pick<Operation, 'failure' | 'conclusion' | 'warning' | 'csv'>

export interface Commands {
  readonly specs: readonly CommandSpec[]
  /** Those of an operation, loaded where a response needs them. */
  functions(id: string): Promise<CommandFunctions>
}
