import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

/** What the room of apps keeps in the database; nothing else refers to it. */
export const bytes: readonly Migration<PlatformTables>[] = [
  {
    name: 'bytes/0001-app-bytes',
    up: (t, d) => [
      // Without a digest while it is written; then `kept_at` says when that last went on, and 0 that it
      // is to be cleared away.
      `CREATE TABLE ${t.app_bytes} (
        id ${d.id} PRIMARY KEY,
        app_id ${d.id} NOT NULL,
        sha256 ${d.id},
        size BIGINT NOT NULL,
        kept_at BIGINT NOT NULL,
        UNIQUE (app_id, sha256)
      )`,
      `CREATE INDEX ${t.app_bytes}_unkept ON ${t.app_bytes} (kept_at) WHERE sha256 IS NULL`,
      `CREATE TABLE ${t.app_chunks} (
        bytes_id ${d.id} NOT NULL REFERENCES ${t.app_bytes} (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        chunk ${d.bytes} NOT NULL,
        PRIMARY KEY (bytes_id, number)
      )`,
    ],
  },
]
