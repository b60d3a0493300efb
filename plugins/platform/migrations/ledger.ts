import type { Dialect } from '../../store/sql/client.ts'
import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

/** The largest integer that a number of the program holds exactly. */
const MOST = '9007199254740991'

const amounts = (...columns: readonly string[]): string =>
  columns.map((column) => `${column} BIGINT NOT NULL DEFAULT 0`).join(', ')

/** What is charged: balances as the sums of entries that never change. */
export const ledger: readonly Migration<PlatformTables>[] = [
  {
    name: 'ledger/0001-wallets-transactions-lots-holds',
    up: (t, d) => [
      `CREATE TABLE ${t.wallets} (
        account_id ${d.id} PRIMARY KEY,
        currency TEXT NOT NULL,
        ${amounts('paid', 'granted', 'held', 'debt', 'revenue', 'processor', 'issued', 'expired')},
        low_balance BIGINT,
        low_since BIGINT,
        transactions BIGINT NOT NULL DEFAULT 0,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        CHECK (paid >= 0 AND granted >= 0 AND held >= 0 AND expired >= 0 AND debt <= 0),
        CHECK (paid + granted + held <= ${MOST}),
        CHECK (paid + granted + held + debt + revenue + processor + issued + expired = 0)
      )`,
      `CREATE TABLE ${t.ledger_transactions} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        seq BIGINT NOT NULL,
        at BIGINT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('topup', 'monthly_credit', 'grant', 'debt_payment', 'hold',
          'capture', 'release', 'usage', 'expiry', 'clawback', 'reinstatement', 'revoke')),
        key ${d.id} NOT NULL UNIQUE,
        reverses ${d.id} UNIQUE REFERENCES ${t.ledger_transactions} (id),
        ref_type TEXT,
        ref_id ${d.id},
        operation TEXT,
        meter TEXT,
        quantity BIGINT,
        app_id ${d.id},
        key_id ${d.id},
        price_version TEXT,
        amount BIGINT NOT NULL,
        held BIGINT NOT NULL,
        debt BIGINT NOT NULL,
        balance_after BIGINT NOT NULL,
        available_after BIGINT NOT NULL,
        note TEXT,
        actor_type TEXT NOT NULL,
        actor_id TEXT,
        UNIQUE (account_id, seq)
      )`,
      `CREATE INDEX ${t.ledger_transactions}_by_time
        ON ${t.ledger_transactions} (account_id, at, seq)`,
      `CREATE INDEX ${t.ledger_transactions}_by_ref ON ${t.ledger_transactions} (ref_type, ref_id)
        WHERE ref_id IS NOT NULL`,
      `CREATE TABLE ${t.ledger_entries} (
        transaction_id ${d.id} NOT NULL REFERENCES ${t.ledger_transactions} (id),
        number INTEGER NOT NULL,
        account_id ${d.id} NOT NULL,
        ledger TEXT NOT NULL CHECK (ledger IN ('paid', 'granted', 'held', 'debt', 'revenue',
          'processor', 'issued', 'expired')),
        lot_id ${d.id},
        amount BIGINT NOT NULL CHECK (amount <> 0),
        PRIMARY KEY (transaction_id, number)
      ) ${d.clustered}`,
      ...appendOnly(t, d),
      `CREATE TABLE ${t.lots} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        seq BIGINT NOT NULL,
        source TEXT NOT NULL CHECK (source IN ('paid', 'granted')),
        rank SMALLINT NOT NULL,
        ${amounts('granted', 'remaining', 'held', 'spent', 'expired', 'clawed')},
        from_processor BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        CHECK (remaining >= 0 AND held >= 0 AND spent >= 0 AND expired >= 0 AND clawed >= 0),
        CHECK (granted = remaining + held + spent + expired + clawed),
        CHECK (from_processor >= 0 AND from_processor <= granted)
      )`,
      `CREATE INDEX ${t.lots}_spendable ON ${t.lots} (account_id, expires_at, rank, seq)
        WHERE remaining > 0`,
      `CREATE INDEX ${t.lots}_due ON ${t.lots} (expires_at, id)
        WHERE remaining > 0 AND expires_at < ${MOST}`,
      `CREATE TABLE ${t.holds} (
        id ${d.id} PRIMARY KEY,
        operation_id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        seq BIGINT NOT NULL,
        operation TEXT NOT NULL,
        meter TEXT NOT NULL,
        quantity BIGINT NOT NULL,
        app_id ${d.id},
        key_id ${d.id},
        budget_keys TEXT NOT NULL,
        month INTEGER NOT NULL,
        price_version TEXT NOT NULL,
        price TEXT NOT NULL,
        amount BIGINT NOT NULL CHECK (amount > 0),
        captured BIGINT,
        state TEXT NOT NULL CHECK (state IN ('open', 'captured', 'released', 'expired')),
        deadline_at BIGINT NOT NULL,
        created_at BIGINT NOT NULL,
        ended_at BIGINT,
        CHECK (captured IS NULL OR (captured >= 0 AND captured <= amount)),
        CHECK ((state = 'open') = (ended_at IS NULL)),
        CHECK ((state = 'captured') = (captured IS NOT NULL))
      )`,
      `CREATE INDEX ${t.holds}_by_operation ON ${t.holds} (account_id, operation_id, seq)`,
      // Whatever else goes wrong, no work is held twice, nor held again once it was paid for.
      `CREATE UNIQUE INDEX ${t.holds}_of_operation ON ${t.holds} (account_id, operation_id)
        WHERE state IN ('open', 'captured')`,
      `CREATE INDEX ${t.holds}_due ON ${t.holds} (deadline_at, id) WHERE state = 'open'`,
      `CREATE TABLE ${t.hold_lots} (
        hold_id ${d.id} NOT NULL REFERENCES ${t.holds} (id),
        number INTEGER NOT NULL,
        lot_id ${d.id} NOT NULL,
        amount BIGINT NOT NULL CHECK (amount > 0),
        PRIMARY KEY (hold_id, number)
      ) ${d.clustered}`,
      `CREATE TABLE ${t.price_versions} (
        version ${d.id} PRIMARY KEY,
        sha256 TEXT NOT NULL,
        body TEXT NOT NULL,
        first_seen BIGINT NOT NULL
      )`,
    ],
  },
  {
    name: 'ledger/0002-usage-days',
    up: (t, d) => [
      `CREATE TABLE ${t.usage_days} (
        account_id ${d.id} NOT NULL,
        day ${d.id} NOT NULL,
        operation ${d.id} NOT NULL,
        meter ${d.id} NOT NULL,
        app_id ${d.id} NOT NULL,
        key_id ${d.id} NOT NULL,
        ${amounts('count', 'quantity', 'charged')},
        PRIMARY KEY (account_id, day, operation, meter, app_id, key_id)
      ) ${d.clustered}`,
    ],
  },
  {
    name: 'ledger/0003-key-spending',
    up: (t, d) => [
      `CREATE TABLE ${t.key_spending} (
        account_id ${d.id} NOT NULL,
        key_id ${d.id} NOT NULL,
        month INTEGER NOT NULL,
        budget BIGINT NOT NULL,
        ${amounts('held', 'spent')},
        PRIMARY KEY (key_id, month),
        CHECK (held >= 0 AND spent >= 0 AND held + spent <= budget)
      ) ${d.clustered}`,
    ],
  },
]

const APPEND_ONLY: Readonly<
  Record<Dialect['name'], (tables: readonly string[]) => readonly string[]>
> = {
  sqlite: (tables) =>
    tables.flatMap((table) =>
      ['update', 'delete'].map(
        (change) =>
          `CREATE TRIGGER ${table}_no_${change} BEFORE ${change.toUpperCase()} ON ${table}
           BEGIN SELECT RAISE(ABORT, 'append-only'); END`,
      ),
    ),
  postgres: ([first = '', ...others]) => [
    `CREATE FUNCTION ${first}_append_only() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'append-only'; END $$`,
    ...[first, ...others].map(
      (table) =>
        `CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE ON ${table}
         FOR EACH ROW EXECUTE FUNCTION ${first}_append_only()`,
    ),
  ],
}

function appendOnly(t: PlatformTables, { name }: Dialect): readonly string[] {
  return APPEND_ONLY[name]([t.ledger_transactions, t.ledger_entries])
}
