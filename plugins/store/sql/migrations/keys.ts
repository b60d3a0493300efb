import type { Migration } from './migration.ts'

export const keys: readonly Migration[] = [
  {
    name: 'keys/0001-keys-and-secrets',
    up: (t, d) => [
      // RESTRICT: were a parent to vanish, its children would become roots.
      `CREATE TABLE ${t.keys} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        parent_id ${d.id} REFERENCES ${t.keys} (id) ON DELETE RESTRICT,
        depth SMALLINT NOT NULL CHECK (depth BETWEEN 0 AND 8),
        name TEXT NOT NULL,
        scopes TEXT NOT NULL,
        pins TEXT,
        expires_at BIGINT,
        revoked_at BIGINT,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        last_used_at BIGINT,
        version INTEGER NOT NULL
      )`,
      `CREATE INDEX ${t.keys}_by_account ON ${t.keys} (account_id, id)`,
      `CREATE INDEX ${t.keys}_by_parent ON ${t.keys} (parent_id)`,
      `CREATE TABLE ${t.key_secrets} (
        hash TEXT PRIMARY KEY,
        key_id ${d.id} NOT NULL REFERENCES ${t.keys} (id),
        version INTEGER NOT NULL,
        display TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        not_after BIGINT,
        UNIQUE (key_id, version)
      )`,
    ],
  },
  {
    // A rotation used to end every older value at its own instant. Versions alone said so after the clock
    // was set back; now that each value has an end of its own, the row says it.
    name: 'keys/0002-superseded-values-ended',
    up: (t) => [
      `UPDATE ${t.key_secrets} SET not_after = 0
       WHERE not_after IS NOT NULL AND version < (SELECT k.version - 1 FROM ${t.keys} k
         WHERE k.id = ${t.key_secrets}.key_id)`,
    ],
  },
]
