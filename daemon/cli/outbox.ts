import type { Command } from 'commander'
import { Argument } from 'commander'
import { OUTBOX_SQL } from '../../plugins/outbox/contract/table.ts'
import { outboxDialect } from '../composition/outbox.ts'
import { ConfigError, readConfig } from '../config/config.ts'
import { namingHelp } from './command.ts'
import type { CommandPorts } from './operation-command.ts'
import type { Terminal } from './terminal.ts'

type Dialect = keyof typeof OUTBOX_SQL

/** Defines `outbox sql`, whose output belongs into the backend's own migrations. */
export function defineOutbox(outbox: Command, { terminal: { env, out } }: CommandPorts): void {
  const sql = outbox.usage('sql [database]').command('sql')
  namingHelp(sql, 'keyhook outbox sql')
    .description('Print the statements that create its table')
    .addArgument(
      new Argument('[database]', 'default: that of KEYHOOK_OUTBOX_URL').choices(
        Object.keys(OUTBOX_SQL),
      ),
    )
    .action((database: Dialect | undefined) => {
      out(OUTBOX_SQL[database ?? configured(env)])
    })
}

/** @throws ConfigError */
function configured(env: Terminal['env']): Dialect {
  const { outboxUrl } = readConfig(env)
  if (outboxUrl !== undefined) return outboxDialect(outboxUrl)
  throw new ConfigError(
    'KEYHOOK_OUTBOX_URL is not set: name the database, `keyhook outbox sql postgres` or `sqlite`',
  )
}
