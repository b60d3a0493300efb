import type { ConformanceCase, ConformanceHarness } from '../../../conformance.ts'
import type { SqlClient } from '../client.ts'

/** The client under test. Its capabilities: `reopen`, and `hold` where it has that method. */
export interface SqlClientHarness extends ConformanceHarness {
  /** Opens a client of an empty database, of its own for every case. */
  open(): Promise<SqlClient>
  /** Opens the database of a closed client again; required for `reopen`. */
  reopen?(): Promise<SqlClient>
}

export type SqlClientCase = ConformanceCase<SqlClientHarness>

/** A table of numbered rows, as text. */
export async function openWithRows(
  { open }: SqlClientHarness,
  ...values: readonly string[]
): Promise<SqlClient> {
  const client = await open()
  await client.transaction(async (query) => {
    await query(`CREATE TABLE rows_of_case (id ${client.dialect.id} PRIMARY KEY, body TEXT)`)
    for (const [at, value] of values.entries()) await insertRow(query, `row_${at}`, value)
  })
  return client
}

export async function insertRow(
  query: SqlClient['read'],
  id: string,
  value: string | null,
): Promise<void> {
  await query('INSERT INTO rows_of_case (id, body) VALUES ($1, $2)', [id, value])
}

/** The ids of the table, in order. */
export async function idsOf(query: SqlClient['read']): Promise<readonly string[]> {
  const rows = await query<{ id: string }>('SELECT id FROM rows_of_case ORDER BY id')
  return rows.map(({ id }) => id)
}
