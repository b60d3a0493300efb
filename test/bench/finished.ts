import sqlite3 from 'sqlite3'

/**
 * Adds deliveries that succeeded a day ago, with their attempts and their events, whose bodies are short:
 * it is the trees that could slow a sender down, not the bytes.
 */
export async function addFinished(
  file: string,
  of: { readonly webhook: string; readonly account: string; readonly count: number },
): Promise<void> {
  const database = new sqlite3.Database(file)
  const born = Date.now() - 86_400_000
  // Ids in the order of time, as those that are made are.
  const id = `printf('%08x-%04x-7000-8000-%012x', (${born} + i) >> 16, (${born} + i) & 65535, i)`
  const each = (table: string, columns: string, values: string): string => `
    INSERT INTO keyhook_${table} (${columns})
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${of.count})
    SELECT ${values} FROM n;`
  await execute(
    database,
    `PRAGMA synchronous = OFF; BEGIN;
    ${each(
      'events',
      'account_id, id, app_id, type, created_at, body',
      `'${of.account}', printf('evt_%026d', i), NULL, 'bench.happened', ${born} + i,
        CAST(printf('{"id":"evt_%026d","type":"bench.happened","data":{}}', i) AS BLOB)`,
    )}
    ${each(
      'deliveries',
      `id, account_id, webhook_id, event_id, event_type, app_id, status, attempts, automatic, cause,
        retry, next_at, created_at, done_at, claim`,
      `${id}, '${of.account}', '${of.webhook}', printf('evt_%026d', i), 'bench.happened', NULL,
        'succeeded', 1, 1, 'event', 0, NULL, ${born} + i, ${born} + i + 5, NULL`,
    )}
    ${each(
      'attempts',
      'delivery_id, number, cause, started_at, duration, status_code, error, response',
      `${id}, 1, 'event', ${born} + i, 5, 204, NULL, ''`,
    )}
    COMMIT; PRAGMA wal_checkpoint(TRUNCATE);`,
  )
  await new Promise<void>((resolve) => {
    database.close(() => {
      resolve()
    })
  })
}

function execute(database: sqlite3.Database, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    database.exec(sql, (error) => {
      if (error === null) resolve()
      else reject(error)
    })
  })
}
