import type { Migration } from './migration.ts'

/** Tables that several processes share; a file of SQLite has one process. */
export const processes: readonly Migration[] = [
  {
    name: 'processes/0001-processes-changes',
    up: (t, d) =>
      d.name === 'sqlite'
        ? []
        : [
            `CREATE TABLE ${t.processes} (
              id TEXT PRIMARY KEY,
              joined_at TIMESTAMPTZ NOT NULL,
              lease_until TIMESTAMPTZ NOT NULL,
              applied BIGINT NOT NULL
            )`,
            // One row, whose lock puts changes and leases in one order.
            `CREATE TABLE ${t.changes_head} (seq BIGINT NOT NULL)`,
            `INSERT INTO ${t.changes_head} (seq) VALUES (0)`,
            `CREATE TABLE ${t.changes} (
              seq BIGINT PRIMARY KEY,
              at TIMESTAMPTZ NOT NULL,
              changes TEXT NOT NULL
            )`,
          ],
  },
]
