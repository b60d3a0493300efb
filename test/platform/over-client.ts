import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { PLATFORM_MIGRATIONS } from '../../plugins/platform/nouns.ts'
import { openModels } from '../../plugins/platform/open.ts'
import { createPlatformStore } from '../../plugins/platform/sql/store.ts'
import { namePlatformTables } from '../../plugins/platform/sql/tables.ts'
import type { SqlClient } from '../../plugins/store/sql/client.ts'
import { coreSteps, migrate, stepsOf } from '../../plugins/store/sql/migrate.ts'
import { createSqlStore } from '../../plugins/store/sql/store.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'

/** Brings the schema of core and platform up to date, without a prefix. */
export async function migratePlatform(client: SqlClient): Promise<void> {
  const tables = nameTables('')
  const further = stepsOf(PLATFORM_MIGRATIONS, namePlatformTables(''))
  await migrate(client, tables, [...coreSteps(tables), ...further])
}

/** The platform store over a client that a test watches. */
export async function platformOver(client: SqlClient): Promise<PlatformStore> {
  const tables = namePlatformTables('')
  const models = await openModels(client.dialect.name, tables)
  return createPlatformStore(createSqlStore(client, nameTables('')), client, tables, models, '')
}
