import type { Command } from 'commander'
import { Argument } from 'commander'
import { printBash } from './completion/bash.ts'
import { printFish } from './completion/fish.ts'
import type { Completed } from './completion/tree.ts'
import { completedOf } from './completion/tree.ts'
import { printZsh } from './completion/zsh.ts'
import type { CommandPorts } from './operation-command.ts'

const SHELLS: Readonly<Record<string, (program: Completed) => string>> = {
  bash: printBash,
  zsh: printZsh,
  fish: printFish,
}

/** Defines `completion`, whose script holds every command: completing one starts no program. */
export function defineCompletion(command: Command, { terminal }: CommandPorts): void {
  command
    .addArgument(new Argument('<shell>').choices(Object.keys(SHELLS)))
    .action((shell: string) => {
      const program = command.parent ?? command
      terminal.out(SHELLS[shell]?.(completedOf(program)) ?? '')
    })
}
