import type { Migration } from '../../store/sql/migrations/migration.ts'
import { PASSAGES } from '../sql/passage-index.ts'
import type { PlatformTables } from '../sql/tables.ts'

export const files: readonly Migration<PlatformTables>[] = [
  {
    name: 'files/0001-files-chunks',
    up: (t, d) => [
      `CREATE TABLE ${t.files} (
        id ${d.id} PRIMARY KEY,
        app_id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        name TEXT NOT NULL,
        content_type TEXT NOT NULL,
        size BIGINT NOT NULL,
        sha256 ${d.id} NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('queued', 'processing', 'processed', 'failed')),
        stage TEXT,
        done BIGINT NOT NULL,
        total BIGINT,
        chunks INTEGER,
        characters BIGINT,
        error TEXT,
        attempts INTEGER NOT NULL,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        processed_at BIGINT,
        deadline_at BIGINT,
        claim TEXT,
        lease_until BIGINT
      )`,
      `CREATE INDEX ${t.files}_by_app ON ${t.files} (app_id, id)`,
      `CREATE INDEX ${t.files}_by_sha256 ON ${t.files} (app_id, sha256, id)`,
      `CREATE INDEX ${t.files}_waiting ON ${t.files} (id)
        WHERE status IN ('queued', 'processing')`,
      `CREATE INDEX ${t.files}_processing ON ${t.files} (account_id) WHERE status = 'processing'`,
      `CREATE TABLE ${t.file_chunks} (
        id ${d.serial},
        file_id ${d.id} NOT NULL,
        ordinal INTEGER NOT NULL,
        text TEXT NOT NULL,
        heading TEXT,
        page INTEGER,
        starts_at BIGINT NOT NULL,
        ends_at BIGINT NOT NULL,
        ${PASSAGES[d.name].columns}
        UNIQUE (file_id, ordinal)
      )`,
      ...PASSAGES[d.name].index(t),
    ],
  },
  {
    name: 'files/0002-vectors',
    up: (t, d) => [
      // The vectors of neighbouring chunks in one row: to compare with thousands, few rows are read.
      `CREATE TABLE ${t.file_vectors} (
        id ${d.serial},
        file_id ${d.id} NOT NULL,
        ordinal INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        model TEXT NOT NULL,
        packed ${d.bytes} NOT NULL,
        UNIQUE (file_id, ordinal)
      )`,
      // Trying to make them smaller only takes time.
      ...(d.name === 'postgres'
        ? [`ALTER TABLE ${t.file_vectors} ALTER COLUMN packed SET STORAGE EXTERNAL`]
        : []),
    ],
  },
  {
    name: 'files/0003-queued',
    up: (t) => [
      // What is begun next is found by hopping from account to account.
      `CREATE INDEX ${t.files}_queued ON ${t.files} (account_id, id) WHERE status = 'queued'`,
      `DROP INDEX ${t.files}_waiting`,
    ],
  },
  {
    name: 'files/0004-removed',
    up: (t, d) => [
      // Files that are deleted, and of whose chunks and vectors some may be left.
      `CREATE TABLE ${t.removed_files} (file_id ${d.id} PRIMARY KEY)`,
    ],
  },
]
