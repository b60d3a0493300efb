import type { Command } from 'commander'
import { InvalidArgumentError, Option } from 'commander'
import type { CommandSpec } from '../operations/command.ts'

/** The commands of each group, in the order of first appearance. */
export function groupsOf(
  specs: readonly CommandSpec[],
): readonly { readonly group: string; readonly commands: readonly CommandSpec[] }[] {
  return [...new Set(specs.map(({ group }) => group))].map((group) => ({
    group,
    commands: specs.filter((spec) => spec.group === group),
  }))
}

/**
 * The name of a field on the command line.
 *
 * @example
 * optionName('expires_at') // 'expires'
 */
export function optionName(field: string): string {
  return field.replace(/_at$/, '').replaceAll('_', '-')
}

/** Adds the options that every command takes, before or after its name. */
export function addShared(command: Command): Command {
  return command
    .option('--json', 'print JSON')
    .addOption(new Option('--account <id>', 'the account to act for').argParser(readAccount))
}

function readAccount(text: string): string {
  if (/^[\x21-\x7e]{1,100}$/.test(text)) return text
  throw new InvalidArgumentError('Must be an account id.')
}

/** Makes what is wrong with a line one line, which names the help of the command. */
export function namingHelp(command: Command, help: string): Command {
  return command.configureOutput({
    outputError(text, write) {
      const line = text
        .replace(/^error: /, '')
        .trim()
        .replaceAll('\n', ' ')
      write(`keyhook: ${line.replace(/([^.?)])$/, '$1.')} See \`${help} --help\`\n`)
    },
  })
}
