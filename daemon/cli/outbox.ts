import type { Command } from 'commander'
import { Argument } from 'commander'
import { OUTBOX_SQL } from '../../plugins/outbox/contract/table.ts'
import { outboxDialect } from '../composition/outbox.ts'
import { ConfigError, readConfig } from '../config/config.ts'
import type { Terminal } from './terminal.ts'

type Dialect = keyof typeof OUTBOX_SQL

/** Adds `outbox sql`, whose output belongs into the backend's own migrations. */
export function addOutbox(program: Command, { env, out }: Terminal): void {
  const outbox = program
    .command('outbox')
    .usage('sql [database]')
    .description('Print the statements that create the outbox in the database of your backend')
  outbox
    .command('sql')
    .description('Print the statements that create its table')
    .addArgument(
      new Argument('[database]', 'default: that of KEYHOOK_OUTBOX_URL').choices(
        Object.keys(OUTBOX_SQL),
      ),
    )
    .copyInheritedSettings(outbox)
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
