import type { Migration } from './migration.ts'

/** The instant of a key that does not end. */
const NEVER = Number.MAX_SAFE_INTEGER
/** When key `k` ends, whatever its ancestors. */
const OWN_END = `CASE WHEN COALESCE(k.expires_at, ${NEVER}) < COALESCE(k.revoked_at, ${NEVER})
  THEN COALESCE(k.expires_at, ${NEVER}) ELSE COALESCE(k.revoked_at, ${NEVER}) END`

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
  {
    // What counts, lists or deletes keys used to walk all that had ended.
    name: 'keys/0003-ends-of-lines',
    up: (t) => [
      `ALTER TABLE ${t.keys} ADD COLUMN ends_at BIGINT NOT NULL DEFAULT ${NEVER}`,
      `ALTER TABLE ${t.keys} ADD COLUMN line_revoked SMALLINT NOT NULL DEFAULT 0`,
      `WITH RECURSIVE tree (id, ends_at, line_revoked) AS (
         SELECT k.id, ${OWN_END}, CASE WHEN k.revoked_at IS NULL THEN 0 ELSE 1 END
         FROM ${t.keys} k WHERE k.parent_id IS NULL
         UNION ALL
         SELECT k.id, CASE WHEN tree.ends_at < ${OWN_END} THEN tree.ends_at ELSE ${OWN_END} END,
           CASE WHEN k.revoked_at IS NULL THEN tree.line_revoked ELSE 1 END
         FROM ${t.keys} k JOIN tree ON k.parent_id = tree.id
       )
       UPDATE ${t.keys} SET ends_at = tree.ends_at, line_revoked = tree.line_revoked
       FROM tree WHERE ${t.keys}.id = tree.id`,
      `CREATE INDEX ${t.keys}_live ON ${t.keys} (account_id, ends_at) WHERE line_revoked = 0`,
      `CREATE INDEX ${t.keys}_live_below ON ${t.keys} (parent_id, ends_at) WHERE line_revoked = 0`,
      `CREATE INDEX ${t.keys}_by_end ON ${t.keys} (ends_at, id) WHERE ends_at < ${NEVER}`,
    ],
  },
  {
    // A key that is rotated in a loop leaves any number of ended values: neither its use nor the purge reads
    // those that they do not need.
    name: 'keys/0004-open-secrets',
    up: (t) => [
      `CREATE INDEX ${t.key_secrets}_open ON ${t.key_secrets} (key_id, version)
       WHERE not_after IS NULL OR not_after > 0`,
      `CREATE INDEX ${t.key_secrets}_by_age ON ${t.key_secrets} (created_at, hash)
       WHERE not_after IS NOT NULL`,
    ],
  },
  {
    name: 'keys/0005-monthly-budget',
    up: (t) => [`ALTER TABLE ${t.keys} ADD COLUMN monthly_budget BIGINT`],
  },
]
