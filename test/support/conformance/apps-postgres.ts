import pg from 'pg'
import type { AppBytes } from '../../../plugins/apps/contract.ts'
import { openDatabaseBytes } from '../../../plugins/apps/database.ts'
import { createMembership } from '../../../plugins/store/sql/postgres/membership.ts'
import { fromPool } from '../../../plugins/store/sql/postgres/source.ts'
import { openPostgres } from '../../../plugins/store/sql/postgres.ts'
import { nameTables } from '../../../plugins/store/sql/tables.ts'

/** Opens bytes in a database: what the conformance suite calls in another process. */
export function open({
  url,
  tablePrefix,
}: Record<'url' | 'tablePrefix', string>): Promise<AppBytes> {
  const source = fromPool(new pg.Pool({ connectionString: url }))
  const core = nameTables(tablePrefix)
  const client = openPostgres(source, core, createMembership(source, core))
  return Promise.resolve(openDatabaseBytes({ client, tablePrefix, clock: { now: Date.now } }))
}
