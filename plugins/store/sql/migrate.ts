import type { MigrationParams, RunnableMigration } from 'umzug'
import { Umzug } from 'umzug'
import { MINUTE } from '../../../lib/time.ts'
import type { Query, SqlClient } from './client.ts'
import { accounts } from './migrations/accounts.ts'
import { apps } from './migrations/apps.ts'
import { bytes } from './migrations/bytes.ts'
import { deployments } from './migrations/deployments.ts'
import { edits } from './migrations/edits.ts'
import { events } from './migrations/events.ts'
import { files } from './migrations/files.ts'
import { keys } from './migrations/keys.ts'
import type { Migration } from './migrations/migration.ts'
import { observations } from './migrations/observations.ts'
import { processes } from './migrations/processes.ts'
import { requests } from './migrations/requests.ts'
import { settings } from './migrations/settings.ts'
import { webhooks } from './migrations/webhooks.ts'
import type { Tables } from './tables.ts'

/** Families in the order in which their tables refer to each other. */
export const MIGRATIONS: readonly Migration[] = [
  accounts,
  keys,
  webhooks,
  events,
  requests,
  processes,
  apps,
  bytes,
  edits,
  files,
  deployments,
  settings,
  observations,
].flat()

/** Another process may be taking the same steps, over large tables. */
const PATIENCE = 10 * MINUTE

/** Brings the schema up to date in one transaction and answers the names of the steps it took. */
export async function migrate(client: SqlClient, tables: Tables): Promise<readonly string[]> {
  const work = async (query: Query): Promise<readonly string[]> => {
    await query(
      `CREATE TABLE IF NOT EXISTS ${tables.migrations} (name TEXT PRIMARY KEY, at BIGINT NOT NULL)`,
    )
    const umzug = new Umzug({
      migrations: MIGRATIONS.map((migration) => runnable(migration, client, tables, query)),
      storage: storageOn(query, tables),
      logger: undefined,
    })
    const done = await umzug.up()
    return done.map(({ name }) => name)
  }
  return client.transaction(work, { patience: PATIENCE })
}

function runnable(
  { name, up }: Migration,
  client: SqlClient,
  tables: Tables,
  query: Query,
): RunnableMigration<object> {
  return {
    name,
    async up() {
      for (const statement of up(tables, client.dialect)) await query(statement)
    },
  }
}

function storageOn(query: Query, tables: Tables) {
  return {
    async executed() {
      const rows = await query<{ name: string }>(`SELECT name FROM ${tables.migrations}`)
      return rows.map(({ name }) => name)
    },
    async logMigration({ name }: MigrationParams<object>) {
      await query(`INSERT INTO ${tables.migrations} (name, at) VALUES ($1, $2)`, [name, Date.now()])
    },
    unlogMigration: () => Promise.reject(new Error('migrations only go forward')),
  }
}
