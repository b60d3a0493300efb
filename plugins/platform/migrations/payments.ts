import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

/** What is known of a payment processor: customers, checkouts, subscriptions, invoices and payments. */
export const payments: readonly Migration<PlatformTables>[] = [
  {
    name: 'billing/0001-processor',
    up: (t, d) => [
      `CREATE TABLE ${t.billing_customers} (
        account_id ${d.id} NOT NULL,
        processor ${d.id} NOT NULL,
        customer_id ${d.id} NOT NULL,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (account_id, processor),
        UNIQUE (processor, customer_id)
      )`,
      `CREATE TABLE ${t.checkouts} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('topup', 'subscribe', 'payment_method')),
        amount BIGINT CHECK (amount > 0),
        processor ${d.id} NOT NULL,
        request_key ${d.id},
        session_id ${d.id},
        url TEXT,
        status TEXT NOT NULL CHECK (status IN ('created', 'open', 'complete', 'expired', 'failed')),
        settled_at BIGINT,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      )`,
      `CREATE UNIQUE INDEX ${t.checkouts}_of_request ON ${t.checkouts} (account_id, request_key)
        WHERE request_key IS NOT NULL`,
      `CREATE UNIQUE INDEX ${t.checkouts}_of_session ON ${t.checkouts} (processor, session_id)
        WHERE session_id IS NOT NULL`,
      `CREATE INDEX ${t.checkouts}_by_account ON ${t.checkouts} (account_id, kind, status, id)`,
      `CREATE TABLE ${t.subscriptions} (
        processor ${d.id} NOT NULL,
        id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        is_plan SMALLINT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('incomplete', 'active', 'past_due', 'canceled')),
        past_due_since BIGINT,
        cancel_at BIGINT,
        current_period_end BIGINT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        PRIMARY KEY (processor, id)
      )`,
      `CREATE INDEX ${t.subscriptions}_by_account ON ${t.subscriptions} (account_id, created_at, id)`,
      `CREATE TABLE ${t.invoices} (
        processor ${d.id} NOT NULL,
        id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        number TEXT,
        status TEXT NOT NULL CHECK (status IN ('draft', 'open', 'paid', 'void', 'uncollectible')),
        amount_due BIGINT NOT NULL CHECK (amount_due >= 0),
        amount_paid BIGINT NOT NULL CHECK (amount_paid >= 0),
        currency TEXT NOT NULL,
        period_start BIGINT,
        period_end BIGINT,
        hosted_url TEXT,
        pdf_url TEXT,
        charge_id TEXT,
        credit_transaction ${d.id},
        created_at BIGINT NOT NULL,
        PRIMARY KEY (processor, id)
      )`,
      `CREATE INDEX ${t.invoices}_by_account ON ${t.invoices} (account_id, created_at, id)`,
      `CREATE TABLE ${t.charges} (
        processor ${d.id} NOT NULL,
        id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        credit_id ${d.id} NOT NULL,
        paid BIGINT NOT NULL CHECK (paid > 0),
        created_at BIGINT NOT NULL,
        PRIMARY KEY (processor, id)
      )`,
      `CREATE TABLE ${t.charge_items} (
        processor ${d.id} NOT NULL,
        id ${d.id} NOT NULL,
        charge_id ${d.id} NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('refund', 'dispute')),
        amount BIGINT NOT NULL CHECK (amount >= 0),
        active SMALLINT NOT NULL,
        PRIMARY KEY (processor, id)
      )`,
      `CREATE INDEX ${t.charge_items}_by_charge ON ${t.charge_items} (processor, charge_id, id)`,
      `CREATE TABLE ${t.processor_events} (
        id ${d.id} PRIMARY KEY,
        processor ${d.id} NOT NULL,
        event_id ${d.id},
        type TEXT NOT NULL,
        ref_kind ${d.id} NOT NULL,
        ref_id ${d.id} NOT NULL,
        source TEXT NOT NULL CHECK (source IN ('intake', 'sweep', 'request')),
        status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'ignored', 'failed')),
        error TEXT,
        received_at BIGINT NOT NULL,
        done_at BIGINT
      )`,
      `CREATE UNIQUE INDEX ${t.processor_events}_once
        ON ${t.processor_events} (processor, event_id, ref_kind, ref_id) WHERE event_id IS NOT NULL`,
      `CREATE INDEX ${t.processor_events}_open
        ON ${t.processor_events} (processor, ref_kind, ref_id) WHERE status = 'pending'`,
      `CREATE INDEX ${t.processor_events}_by_time ON ${t.processor_events} (received_at, id)`,
      `CREATE TABLE ${t.processor_sweeps} (
        processor ${d.id} PRIMARY KEY,
        swept_at BIGINT NOT NULL,
        far_at BIGINT NOT NULL
      )`,
    ],
  },
  {
    name: 'billing/0002-unfinished',
    up: (t) => [
      `CREATE INDEX ${t.checkouts}_unfinished ON ${t.checkouts} (expires_at, id)
        WHERE status <> 'complete'`,
    ],
  },
  {
    name: 'billing/0003-lapsed',
    up: (t) => [
      `CREATE INDEX ${t.subscriptions}_lapsed ON ${t.subscriptions} (processor, id)
        WHERE status <> 'canceled'`,
    ],
  },
  {
    name: 'billing/0004-return-urls-charge-totals',
    up: (t) => [
      `ALTER TABLE ${t.checkouts} ADD COLUMN success_url TEXT`,
      `ALTER TABLE ${t.checkouts} ADD COLUMN cancel_url TEXT`,
      `ALTER TABLE ${t.charges} ADD COLUMN total BIGINT NOT NULL DEFAULT 0`,
      `UPDATE ${t.charges} SET total = paid`,
    ],
  },
]
