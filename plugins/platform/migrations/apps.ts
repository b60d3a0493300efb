import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

export const apps: readonly Migration<PlatformTables>[] = [
  {
    name: 'apps/0001-apps-revisions',
    up: (t, d) => [
      `CREATE TABLE ${t.apps} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        name TEXT NOT NULL,
        alias ${d.id},
        status TEXT NOT NULL CHECK (status IN ('creating', 'ready', 'failed')),
        source_kind TEXT NOT NULL,
        template_id TEXT,
        cloned_from TEXT,
        revision INTEGER,
        metadata TEXT NOT NULL,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        archived_at BIGINT,
        purge_at BIGINT
      )`,
      `CREATE INDEX ${t.apps}_by_account ON ${t.apps} (account_id, created_at, id)`,
      `CREATE UNIQUE INDEX ${t.apps}_by_alias ON ${t.apps} (alias) WHERE archived_at IS NULL`,
      `CREATE INDEX ${t.apps}_by_purge ON ${t.apps} (purge_at) WHERE purge_at IS NOT NULL`,
      `CREATE TABLE ${t.revisions} (
        app_id ${d.id} NOT NULL,
        number INTEGER NOT NULL,
        tree TEXT NOT NULL,
        files INTEGER NOT NULL,
        bytes BIGINT NOT NULL,
        message TEXT,
        edit_id TEXT,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (app_id, number)
      ) ${d.clustered}`,
    ],
  },
  {
    name: 'apps/0002-left-aliases',
    up: (t, d) => [
      // Aliases that are their accounts' alone for a while after an app gave them up.
      `CREATE TABLE ${t.left_aliases} (
        alias ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        kept_until BIGINT NOT NULL
      ) ${d.clustered}`,
      `CREATE INDEX ${t.left_aliases}_by_end ON ${t.left_aliases} (kept_until)`,
      `CREATE INDEX ${t.left_aliases}_by_account ON ${t.left_aliases} (account_id, kept_until)`,
      `INSERT INTO ${t.left_aliases} (alias, account_id, kept_until)
       SELECT alias, account_id, COALESCE(purge_at, archived_at) + 2592000000 FROM ${t.apps}
       WHERE archived_at IS NOT NULL AND alias IS NOT NULL ORDER BY archived_at DESC
       ON CONFLICT DO NOTHING`,
    ],
  },
]
