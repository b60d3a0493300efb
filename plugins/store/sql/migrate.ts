import { MINUTE } from '../../../lib/time.ts'
import type { Query, SqlClient } from './client.ts'
import { accounts } from './migrations/accounts.ts'
import type { Extension } from './extension.ts'
import { migrateExtensions } from './extension.ts'
import { events } from './migrations/events.ts'
import { keys } from './migrations/keys.ts'
import type { Migration, Step } from './migrations/migration.ts'
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

/** What may be in the same database besides. */
export interface Extended {
  /** Prefix of the names of all tables. */
  readonly tablePrefix: string
  readonly extensions: readonly Extension[]
}

const ALONE: Extended = { tablePrefix: '', extensions: [] }

/**
 * Brings the schema up to date in one transaction, extensions last, and returns the names of the steps it ran.
 */
export async function migrate(
  client: SqlClient,
  tables: Tables,
  steps: readonly Step[],
  { tablePrefix, extensions }: Extended = ALONE,
): Promise<readonly string[]> {
  const work = async (query: Query): Promise<readonly string[]> => {
    await query(
      `CREATE TABLE IF NOT EXISTS ${tables.migrations} (name TEXT PRIMARY KEY, at BIGINT NOT NULL)`,
    )
    const rows = await query<{ name: string }>(`SELECT name FROM ${tables.migrations}`)
    const executed = new Set(rows.map(({ name }) => name))
    const pending = steps.filter(({ name }) => !executed.has(name))
    if (pending.some(({ alone }) => alone)) await client.requireAlone?.(query)
    for (const step of pending) {
      for (const statement of step.up(client.dialect)) await query(statement)
      await query(`INSERT INTO ${tables.migrations} (name, at) VALUES ($1, $2)`, [
        step.name,
        Date.now(),
      ])
    }
    const own = pending.map(({ name }) => name)
    return [...own, ...(await migrateExtensions(query, client.dialect, tablePrefix, extensions))]
  }
  return client.transaction(work, { maxWait: MAX_WAIT })
}
