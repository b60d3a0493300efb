import type { CommandSpec } from '../operations/command.ts'
import { groupsOf } from './command.ts'
import { printExample } from './example.ts'
import { align } from './print.ts'

/** A command with its one-line description. */
export interface Line {
  readonly name: string
  readonly summary: string
}

/** The page of `keyhook --help`: every command by group, one line each, and a few examples. */
export function printOverview(own: readonly Line[], specs: readonly CommandSpec[]): string {
  const shown = specs
    .filter(({ secret, positionals }) => secret && positionals.length === 0)
    .slice(0, 2)
  return [
    'Keyhook: developer keys and webhooks for any backend.',
    '',
    'Usage: keyhook <command> [options]',
    '',
    align([
      ...own.map(toRow),
      ...groupsOf(specs).flatMap(({ commands }) => [
        [''],
        ...commands.map(({ group, verb, summary }) => toRow({ name: `${group} ${verb}`, summary })),
      ]),
    ]),
    'Every command takes --help, --json and --account <id>. Settings are KEYHOOK_ variables.',
    '',
    'Examples:',
    '  keyhook serve --dev',
    ...shown.map((spec) => `  ${printExample(spec)}`),
    '',
  ].join('\n')
}

function toRow({ name, summary }: Line): readonly string[] {
  return [`  ${name}`, summary]
}
