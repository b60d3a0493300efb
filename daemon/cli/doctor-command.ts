import type { Command } from 'commander'
import { Option } from 'commander'
import type { Check } from './check.ts'
import { printChecks } from './check.ts'
import type { CommandPorts } from './operation-command.ts'
import type { Terminal } from './terminal.ts'

interface DoctorOptions {
  readonly json?: boolean
  readonly live?: boolean
  readonly ready?: boolean
}

/** Defines `doctor`, whose probes are also the health checks of a container. */
export function defineDoctor(command: Command, { terminal, exit }: CommandPorts): void {
  command
    .addOption(
      new Option('--live', 'ask only whether the running daemon answers').conflicts('ready'),
    )
    .option('--ready', 'ask only whether it can write, and is not stopping')
    .option('--json', 'print JSON')
    .action(async () => {
      const { json, ...asked } = command.optsWithGlobals<DoctorOptions>()
      const checks = await checksOf(asked, terminal.env)
      const ok = checks.every((check) => check.ok)
      terminal.out(json === true ? `${JSON.stringify({ ok, checks })}\n` : printChecks(checks))
      if (!ok) exit(1)
    })
}

/** A probe loads nothing of what the other checks need. */
async function checksOf(
  { live, ready }: DoctorOptions,
  env: Terminal['env'],
): Promise<readonly Check[]> {
  if (live === true || ready === true) {
    const { probe } = await import('./probe.ts')
    return [await probe(ready === true ? 'ready' : 'live', env)]
  }
  const { examine } = await import('./doctor.ts')
  return examine(env)
}
