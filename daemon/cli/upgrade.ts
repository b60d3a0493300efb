import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { StoredFacts } from '../../plugins/registry.ts'
import { reachPostgres, reachSqlite } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, databaseFile, readConfig, usesPostgres } from '../config/config.ts'
import { ownVersion } from '../machine/own-version.ts'
import type { CommandPorts } from './operation-command.ts'

/** What this version would do to a database. */
interface Upgrade {
  /** Of this program. */
  readonly version: string
  readonly database: string
  /** Name of the last migration that was run; null for an empty database. */
  readonly schema: string | null
  /** Migrations that a start would run, in order. */
  readonly pending: readonly string[]
  /** Migrations that only a newer version knows: this would be a downgrade. */
  readonly newer: readonly string[]
  /** Daemons that serve the database; null where it does not know, with SQLite. */
  readonly daemons: number | null
  /** Every daemon must have stopped before one of this version starts. */
  readonly needs_stop: boolean
}

/** Exit code of an upgrade that needs all daemons stopped, while some serve. */
const NEEDS_STOP = 3

/** Defines `upgrade`, which reads a database that daemons may be serving, and changes nothing. */
export function defineUpgrade(command: Command, { terminal, exit }: CommandPorts): void {
  command
    .requiredOption('--check', 'change nothing; a start of the daemon upgrades')
    .option('--json', 'print JSON')
    .action(async () => {
      const { json } = command.optsWithGlobals<{ readonly json?: boolean }>()
      const upgrade = await checkUpgrade(readConfig(terminal.env))
      terminal.out(json === true ? `${JSON.stringify(upgrade)}\n` : printUpgrade(upgrade))
      if (upgrade.needs_stop && (upgrade.daemons ?? 0) > 0) exit(NEEDS_STOP)
    })
}

/** @throws ConfigError when there is no database */
async function checkUpgrade(config: Config): Promise<Upgrade> {
  let found: Omit<Upgrade, 'version' | 'database'> | undefined
  const options = {
    async inspect(stored: StoredFacts) {
      found = await readUpgrade(stored)
    },
  }
  const database = await reach(config, options)
  if (found === undefined) throw new Error('the database was not read')
  return { version: ownVersion(), database, ...found }
}

async function reach(config: Config, options: Parameters<typeof reachSqlite>[1]): Promise<string> {
  if (usesPostgres(config)) return reachPostgres(config.databaseUrl ?? '', options)
  const file = databaseFile(config)
  if (!existsSync(file)) {
    throw new ConfigError(
      `there is no database at ${file}. Set KEYHOOK_DATA_DIR to that of the daemon`,
    )
  }
  await reachSqlite(file, options)
  return file
}

async function readUpgrade(stored: StoredFacts): Promise<Omit<Upgrade, 'version' | 'database'>> {
  const steps = await stored.steps()
  const named = (state: (typeof steps)[number]['state']): readonly string[] =>
    steps.filter((step) => step.state === state).map(({ name }) => name)
  const newer = named('of a newer version')
  return {
    schema: [...named('applied'), ...newer].at(-1) ?? null,
    pending: named('pending'),
    newer,
    daemons: (await stored.serving()) ?? null,
    // A database without any migration has no daemon of an older version.
    needs_stop:
      named('applied').length > 0 && steps.some((one) => one.alone && one.state === 'pending'),
  }
}

function printUpgrade(upgrade: Upgrade): string {
  const { version, database, schema, pending, newer, daemons } = upgrade
  const lines = [
    `Keyhook ${version}, ${database}, schema ${schema ?? 'empty'}`,
    ...(daemons === null ? [] : [`${daemons} daemons serve it.`]),
    ...(pending.length === 0
      ? ['The schema is up to date.']
      : [`A start runs ${pending.length} migrations:`, ...pending.map((name) => `  ${name}`)]),
    ...(newer.length === 0
      ? []
      : [
          `${newer.length} migrations are of a newer version, which only add: this version runs beside it, and without what is new.`,
          ...newer.map((name) => `  ${name}`),
        ]),
    adviceOf(upgrade),
  ]
  return `${lines.join('\n')}\n`
}

function adviceOf({ pending, daemons, needs_stop }: Upgrade): string {
  if (daemons === null) return 'One daemon serves SQLite: stop it, back it up, start this version.'
  if (needs_stop && daemons > 0) {
    return 'Stop every daemon first: those of an older version cannot work beside this one.'
  }
  if (needs_stop) return 'No daemon serves it: start this version.'
  return pending.length === 0
    ? 'Daemons may be restarted one after another.'
    : 'Daemons may be restarted one after another: the first of this version runs the migrations.'
}
