import type { MigrationParams, RunnableMigration } from 'umzug'
import { Umzug } from 'umzug'
import { MINUTE } from '../../../lib/time.ts'
import type { Dialect, Query, SqlClient } from './client.ts'
import { accounts } from './migrations/accounts.ts'
import { events } from './migrations/events.ts'
import { keys } from './migrations/keys.ts'
import type { Migration } from './migrations/migration.ts'
import { processes } from './migrations/processes.ts'
import { requests } from './migrations/requests.ts'
import { webhooks } from './migrations/webhooks.ts'
import type { Tables } from './tables.ts'

/** Families in the order in which their tables refer to each other. */
const MIGRATIONS: readonly Migration[] = [
  accounts,
  keys,
  webhooks,
  events,
  requests,
  processes,
].flat()

/** One step of a schema, for named tables. */
export interface Step {
  readonly name: string
  readonly alone: boolean
  up(dialect: Dialect): readonly string[]
}

/** The steps of migrations for named tables. */
export function stepsOf<T>(migrations: readonly Migration<T>[], tables: T): readonly Step[] {
  return migrations.map(({ name, alone = false, up }) => ({
    name,
    alone,
    up: (dialect) => up(tables, dialect),
  }))
}

export const coreSteps = (tables: Tables): readonly Step[] => stepsOf(MIGRATIONS, tables)

/** Maximum wait for another process that runs the same steps, on large tables. */
const MAX_WAIT = 10 * MINUTE

/** Brings the schema up to date in one transaction and returns the names of the steps it ran. */
export async function migrate(
  client: SqlClient,
  tables: Tables,
  steps: readonly Step[],
): Promise<readonly string[]> {
  const work = async (query: Query): Promise<readonly string[]> => {
    await query(
      `CREATE TABLE IF NOT EXISTS ${tables.migrations} (name TEXT PRIMARY KEY, at BIGINT NOT NULL)`,
    )
    const storage = storageOn(query, tables)
    const taken = new Set(await storage.executed())
    const isAlone = steps.some(({ name, alone }) => alone && !taken.has(name))
    if (isAlone) await client.requireAlone?.(query)
    const umzug = new Umzug({
      migrations: steps.map((step) => runnable(step, client.dialect, query)),
      storage,
      logger: undefined,
    })
    const done = await umzug.up()
    return done.map(({ name }) => name)
  }
  return client.transaction(work, { maxWait: MAX_WAIT })
}

function runnable(step: Step, dialect: Dialect, query: Query): RunnableMigration<object> {
  return {
    name: step.name,
    async up() {
      for (const statement of step.up(dialect)) await query(statement)
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
