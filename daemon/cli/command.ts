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
