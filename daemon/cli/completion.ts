import type { Command } from 'commander'
import { Argument } from 'commander'
import { printBash } from './completion/bash.ts'
import { printFish } from './completion/fish.ts'
import type { Completed } from './completion/tree.ts'
import { completedOf } from './completion/tree.ts'
import { printZsh } from './completion/zsh.ts'
import type { Terminal } from './terminal.ts'

const SHELLS: Readonly<Record<string, (program: Completed) => string>> = {
  bash: printBash,
  zsh: printZsh,
  fish: printFish,
}

/** Adds `completion`, whose script holds every command: completing one starts no program. */
export function addCompletion(program: Command, { out }: Terminal): void {
  program
    .command('completion')
    .description('Print the completion of commands for a shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(SHELLS)))
    .action((shell: string) => {
      out(SHELLS[shell]?.(completedOf(program)) ?? '')
    })
}
