import type { Command, Option } from 'commander'

/** A command as a shell completes it. */
export interface Completed {
  /** Its words, without the program's: `key create`; empty for the program. */
  readonly path: string
  readonly summary: string
  readonly children: readonly Completed[]
  readonly options: readonly CompletedOption[]
  /** Values that its argument takes. */
  readonly values: readonly string[]
}

export interface CompletedOption {
  /** `--name`. */
  readonly name: string
  readonly summary: string
  readonly takesValue: boolean
  /** Undefined: any value. */
  readonly values: readonly string[] | undefined
}

/** Every command has it, and lists it nowhere. */
const HELP: CompletedOption = {
  name: '--help',
  summary: 'what it does, and an example',
  takesValue: false,
  values: undefined,
}

/** What can be typed, by the commands of a program. */
export function completedOf(command: Command, path = ''): Completed {
  const at = (name: string): string => (path === '' ? name : `${path} ${name}`)
  return {
    path,
    summary: firstSentence(command.description()),
    children: command.commands.map((child) => completedOf(child, at(child.name()))),
    options: [
      ...command.options.flatMap((option) => (option.hidden ? [] : optionOf(option))),
      HELP,
    ],
    values: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  }
}

function optionOf({
  long,
  description,
  required,
  optional,
  argChoices,
}: Option): CompletedOption[] {
  if (long === undefined || long === null) return []
  const takesValue = required || optional
  return [{ name: long, summary: firstSentence(description), takesValue, values: argChoices }]
}

/** A shell shows one line beside a word. */
function firstSentence(text: string): string {
  return /^[^\n]*?(?=\.(?:\s|$)|\n|$)/.exec(text)?.[0] ?? ''
}

/** A command and all below it. */
export function flatten(command: Completed): readonly Completed[] {
  return [command, ...command.children.flatMap(flatten)]
}

/** A word of a shell: nothing in it is expanded. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
