import type { Dialect, Query } from '../../store/sql/client.ts'
import type { JobLine } from '../contract/jobs.ts'
import { recordsOf } from '../model/records.ts'
import { JOB_LINES } from '../models/jobs.ts'
import type { PlatformTables } from '../sql/tables.ts'

export async function log(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  id: string,
  lines: readonly Omit<JobLine, 'number'>[],
): Promise<void> {
  if (lines.length === 0) return
  // Units of work follow one another: no other adds lines of the same numbers.
  await query(
    `INSERT INTO ${t.job_lines} (job_id, number, at, stage, message)
     SELECT CAST($1 AS TEXT), CAST(line.value ->> 0 AS INTEGER) + (SELECT COALESCE(MAX(number), 0)
         FROM ${t.job_lines} WHERE job_id = $1),
       CAST(line.value ->> 1 AS BIGINT), line.value ->> 2, line.value ->> 3
     FROM ${dialect.each('$2', 'line')}`,
    [
      id,
      JSON.stringify(lines.map(({ at, stage, message }, index) => [index + 1, at, stage, message])),
    ],
  )
}

export function readLines(
  query: Query,
  t: PlatformTables,
  id: string,
  after: number,
  limit: number,
): Promise<readonly JobLine[]> {
  return recordsOf(query, t, JOB_LINES).select(
    'job_id = $1 AND number > $2 ORDER BY number LIMIT $3',
    [id, after, limit],
  )
}
