import type { Query } from '../client.ts'
import type { Row } from '../rows.ts'
import { codeOf } from './statement.ts'

const UNIQUE_VIOLATION = '23505'

/** Runs a statement after a savepoint, so that a conflict undoes only this statement. */
export async function onConflict(
  query: Query,
  sql: string,
  bind: readonly unknown[],
): Promise<readonly Row[]> {
  await query('SAVEPOINT attempt')
  try {
    const rows = await query(sql, bind)
    await query('RELEASE SAVEPOINT attempt')
    return rows
  } catch (cause) {
    if (codeOf(cause) !== UNIQUE_VIOLATION) throw cause
    await query('ROLLBACK TO SAVEPOINT attempt')
    return []
  }
}
