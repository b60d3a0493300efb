import type { OutboxCounts, OutboxRow } from '../contract.ts'
import { MAX_COUNTED } from '../contract.ts'

/** Name of the table, and on PostgreSQL of the channel that notifies of its rows. */
export const OUTBOX_TABLE = 'keyhook_outbox'

/**
 * Statements that create the outbox, version 1, by database. They may run again.
 *
 * The generated ids begin with the time, so that the ids of the events are in about the order of their rows.
 */
export const OUTBOX_SQL = {
  postgres: `CREATE TABLE IF NOT EXISTS keyhook_outbox (
  position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  version SMALLINT NOT NULL DEFAULT 1 CHECK (version = 1),
  row_id TEXT NOT NULL DEFAULT ('evt_'
    || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
    || right(replace(gen_random_uuid()::text, '-', ''), 20)),
  id TEXT,
  account_id TEXT NOT NULL,
  app_id TEXT,
  type TEXT NOT NULL,
  data TEXT NOT NULL CHECK (json_typeof(data::json) = 'object'),
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  refused_at TIMESTAMPTZ,
  refused_code TEXT,
  refused_reason TEXT
);
CREATE INDEX IF NOT EXISTS keyhook_outbox_waiting
  ON keyhook_outbox (position) WHERE refused_at IS NULL;
CREATE INDEX IF NOT EXISTS keyhook_outbox_refused
  ON keyhook_outbox (refused_at) WHERE refused_at IS NOT NULL;
CREATE OR REPLACE FUNCTION keyhook_outbox_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('keyhook_outbox', '');
  RETURN NULL;
END
$$;
DROP TRIGGER IF EXISTS keyhook_outbox_notify ON keyhook_outbox;
CREATE TRIGGER keyhook_outbox_notify AFTER INSERT ON keyhook_outbox
  FOR EACH STATEMENT EXECUTE FUNCTION keyhook_outbox_notify();
`,
  sqlite: `CREATE TABLE IF NOT EXISTS keyhook_outbox (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  version INTEGER NOT NULL DEFAULT 1 CHECK (version = 1),
  row_id TEXT NOT NULL DEFAULT ('evt_'
    || printf('%012x', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
    || lower(hex(randomblob(10)))),
  id TEXT,
  account_id TEXT NOT NULL,
  app_id TEXT,
  type TEXT NOT NULL,
  data TEXT NOT NULL CHECK (json_valid(data) AND json_type(data) = 'object'),
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  refused_at TEXT,
  refused_code TEXT,
  refused_reason TEXT
);
CREATE INDEX IF NOT EXISTS keyhook_outbox_waiting
  ON keyhook_outbox (position) WHERE refused_at IS NULL;
CREATE INDEX IF NOT EXISTS keyhook_outbox_refused
  ON keyhook_outbox (refused_at) WHERE refused_at IS NOT NULL;
`,
} as const

/** Every column that is read or written: fails on a table of another form. */
export const LOOK_AT_TABLE = `SELECT position, version, row_id, id, account_id, app_id, type, data,
  created_at, refused_at, refused_code, refused_reason FROM keyhook_outbox LIMIT 0`

const counted = (condition: string): string =>
  `(SELECT count(*) FROM (SELECT 1 FROM keyhook_outbox WHERE ${condition} LIMIT ${MAX_COUNTED}) few)`

export const COUNT_ROWS = `SELECT ${counted('refused_at IS NULL')} AS waiting,
  ${counted('refused_at IS NOT NULL')} AS refused`

export function toCounts(row: Readonly<Record<string, unknown>> | undefined): OutboxCounts {
  return { waiting: Number(row?.['waiting']), refused: Number(row?.['refused']) }
}

/** A selected row: PostgreSQL returns text, SQLite numbers too. */
export function toRow(row: Readonly<Record<string, unknown>>): OutboxRow {
  const { app_id, data } = row
  return {
    position: String(row['position']),
    id: String(row['id']),
    account_id: String(row['account_id']),
    app_id: typeof app_id === 'string' ? app_id : null,
    type: String(row['type']),
    data: typeof data === 'string' ? data : undefined,
    bytes: Number(row['bytes']),
  }
}

export function noTable(): Error {
  return new Error(
    `there is no table ${OUTBOX_TABLE}: create it with the statements of \`keyhook outbox sql\``,
  )
}
