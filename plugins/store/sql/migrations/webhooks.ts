import type { Migration } from './migration.ts'

export const webhooks: readonly Migration[] = [
  {
    name: 'webhooks/0001-webhooks-and-secrets',
    up: (t, d) => [
      `CREATE TABLE ${t.webhooks} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        url TEXT NOT NULL,
        events TEXT NOT NULL,
        description TEXT,
        apps TEXT,
        status TEXT NOT NULL CHECK (status IN ('active', 'disabled')),
        disabled_reason TEXT,
        disabled_at BIGINT,
        consecutive_failures INTEGER NOT NULL,
        first_failure_at BIGINT,
        failing_at BIGINT,
        last_success_at BIGINT,
        last_delivery_at BIGINT,
        standard_headers SMALLINT NOT NULL,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL
      )`,
      `CREATE INDEX ${t.webhooks}_by_account ON ${t.webhooks} (account_id, id)`,
      `CREATE TABLE ${t.webhook_secrets} (
        id ${d.id} PRIMARY KEY,
        webhook_id ${d.id} NOT NULL REFERENCES ${t.webhooks} (id) ON DELETE CASCADE,
        sealed TEXT NOT NULL,
        display TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        not_after BIGINT
      )`,
      `CREATE INDEX ${t.webhook_secrets}_by_webhook ON ${t.webhook_secrets} (webhook_id)`,
    ],
  },
  {
    name: 'webhooks/0002-headers-rate-concurrency',
    up: (t) => [
      `ALTER TABLE ${t.webhooks} ADD COLUMN headers TEXT`,
      `ALTER TABLE ${t.webhooks} ADD COLUMN rate_limit INTEGER`,
      `ALTER TABLE ${t.webhooks} ADD COLUMN concurrency INTEGER`,
    ],
  },
  {
    name: 'webhooks/0003-set-by',
    // Null until somebody sets a part: a webhook from before this step is as its creator set it.
    up: (t, d) => [
      `ALTER TABLE ${t.webhooks} ADD COLUMN set_by_type TEXT`,
      `ALTER TABLE ${t.webhooks} ADD COLUMN set_by_id TEXT`,
      `ALTER TABLE ${t.webhooks} ADD COLUMN set_at BIGINT`,
      `ALTER TABLE ${t.webhooks} ADD COLUMN url_set_key ${d.id}`,
      `ALTER TABLE ${t.webhooks} ADD COLUMN events_set_key ${d.id}`,
      `ALTER TABLE ${t.webhooks} ADD COLUMN apps_set_key ${d.id}`,
      `ALTER TABLE ${t.webhooks} ADD COLUMN secret_set_key ${d.id}`,
    ],
  },
  {
    // A rotation used to keep the secrets that it ended, and every read of the webhook loaded them.
    name: 'webhooks/0004-ended-secrets-deleted',
    up: (t) => [`DELETE FROM ${t.webhook_secrets} WHERE not_after = 0`],
  },
  {
    name: 'webhooks/0005-trace-headers',
    up: (t) => [`ALTER TABLE ${t.webhooks} ADD COLUMN trace_headers SMALLINT NOT NULL DEFAULT 0`],
  },
]
