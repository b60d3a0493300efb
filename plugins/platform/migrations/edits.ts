import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

export const edits: readonly Migration<PlatformTables>[] = [
  {
    name: 'edits/0001-edits-lines',
    up: (t, d) => [
      `CREATE TABLE ${t.edits} (
        id ${d.id} PRIMARY KEY,
        app_id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('prompt', 'structured')),
        initial SMALLINT NOT NULL,
        status TEXT NOT NULL
          CHECK (status IN ('queued', 'running', 'completed', 'failed', 'canceled')),
        prompt TEXT,
        model TEXT,
        message TEXT,
        reverts TEXT,
        base_revision INTEGER,
        result_revision INTEGER,
        summary TEXT,
        changed TEXT NOT NULL,
        usage TEXT,
        error TEXT,
        stage TEXT,
        done BIGINT NOT NULL,
        total BIGINT,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        started_at BIGINT,
        finished_at BIGINT,
        deadline_at BIGINT,
        cancel_at BIGINT,
        attempts INTEGER NOT NULL,
        claim TEXT,
        lease_until BIGINT,
        lines INTEGER NOT NULL DEFAULT 0
      )`,
      `CREATE INDEX ${t.edits}_by_app ON ${t.edits} (app_id, id)`,
      // Whatever else goes wrong, no app has two.
      `CREATE UNIQUE INDEX ${t.edits}_running ON ${t.edits} (app_id) WHERE status = 'running'`,
      `CREATE INDEX ${t.edits}_waiting ON ${t.edits} (id) WHERE status IN ('queued', 'running')`,
      `CREATE INDEX ${t.edits}_waiting_by_app ON ${t.edits} (app_id, id)
        WHERE status IN ('queued', 'running')`,
      `CREATE TABLE ${t.edit_lines} (
        edit_id ${d.id} NOT NULL,
        number INTEGER NOT NULL,
        at BIGINT NOT NULL,
        stage TEXT,
        message TEXT NOT NULL,
        PRIMARY KEY (edit_id, number)
      ) ${d.clustered}`,
    ],
  },
  {
    name: 'edits/0002-knowledge',
    up: (t) => [
      `ALTER TABLE ${t.edits} ADD COLUMN knowledge TEXT
        CHECK (knowledge IN ('allowed', 'withheld'))`,
    ],
  },
]
