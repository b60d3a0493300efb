import type { Migration } from './migration.ts'

export const requests: readonly Migration[] = [
  {
    name: 'requests/0001-idempotency-and-audit',
    up: (t, d) => [
      `CREATE TABLE ${t.idempotency} (
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        status SMALLINT,
        body TEXT,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        PRIMARY KEY (scope, key)
      )`,
      `CREATE INDEX ${t.idempotency}_by_expiry ON ${t.idempotency} (expires_at)`,
      `CREATE TABLE ${t.audit} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        at BIGINT NOT NULL,
        actor_type TEXT NOT NULL,
        actor_id TEXT,
        action TEXT NOT NULL,
        target_type TEXT NOT NULL,
        target_id TEXT NOT NULL,
        app_id TEXT,
        request_id TEXT NOT NULL
      )`,
      `CREATE INDEX ${t.audit}_by_account ON ${t.audit} (account_id, id)`,
    ],
  },
  { name: 'requests/0002-audit-ip', up: (t) => [`ALTER TABLE ${t.audit} ADD COLUMN ip TEXT`] },
  {
    name: 'requests/0003-audit-origins',
    up: (t) => [`ALTER TABLE ${t.audit} ADD COLUMN origins TEXT`],
  },
  {
    name: 'requests/0004-audit-protocol-and-client',
    up: (t) => [
      `ALTER TABLE ${t.audit} ADD COLUMN protocol TEXT`,
      `ALTER TABLE ${t.audit} ADD COLUMN client TEXT`,
    ],
  },
]
