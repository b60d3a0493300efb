import { FAMILIES } from '../families/index.ts'
import type { CommandSpec } from '../operations/command.ts'
import { commandsOf } from '../operations/commands.ts'

/** The commands of all families. The build replaces this module by its value, which then loads none of them. */
export const BUILT_IN: readonly CommandSpec[] = commandsOf(FAMILIES).specs
