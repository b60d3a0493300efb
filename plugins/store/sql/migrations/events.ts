import { isCountedFailure, isWorthWriting } from '../settle.ts'
import type { Tables } from '../tables.ts'
import type { Migration } from './migration.ts'

export const events: readonly Migration[] = [
  {
    name: 'events/0001-types-events-deliveries-attempts',
    up: (t, d) => [
      // The account '' holds the types that the operator declares for all.
      `CREATE TABLE ${t.event_types} (
        account_id ${d.id} NOT NULL,
        type ${d.id} NOT NULL,
        description TEXT,
        schema TEXT,
        sample TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        PRIMARY KEY (account_id, type)
      )`,
      `CREATE TABLE ${t.events} (
        position ${d.serial},
        ${d.feed.columns}
        account_id ${d.id} NOT NULL,
        id ${d.id} NOT NULL,
        app_id TEXT,
        type TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        body ${d.bytes} NOT NULL,
        UNIQUE (account_id, id)
      )`,
      `CREATE INDEX ${t.events}_by_account ON ${t.events}
        (account_id, ${d.feed.key.join(', ')})`,
      `CREATE TABLE ${t.deliveries} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        webhook_id ${d.id} NOT NULL,
        event_id ${d.id} NOT NULL,
        event_type TEXT NOT NULL,
        app_id TEXT,
        status TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        automatic INTEGER NOT NULL,
        cause TEXT NOT NULL,
        retry SMALLINT NOT NULL,
        next_at BIGINT,
        created_at BIGINT NOT NULL,
        done_at BIGINT,
        claim TEXT
      ) ${d.clustered}`,
      `CREATE INDEX ${t.deliveries}_by_webhook ON ${t.deliveries} (webhook_id, id)`,
      // Finished rows leave it; a claimed row stays, due when its lease ends, so one index serves both.
      `CREATE INDEX ${t.deliveries}_due ON ${t.deliveries} (webhook_id, retry, next_at, id)
        WHERE done_at IS NULL`,
      `CREATE TABLE ${t.attempts} (
        delivery_id ${d.id} NOT NULL,
        number INTEGER NOT NULL,
        cause TEXT NOT NULL,
        started_at BIGINT NOT NULL,
        duration INTEGER NOT NULL,
        status_code INTEGER,
        error TEXT,
        response TEXT,
        PRIMARY KEY (delivery_id, number)
      ) ${d.clustered}`,
    ],
  },
  {
    name: 'events/0003-grouped',
    up: (t, d) => (d.name === 'sqlite' ? [...groupedPublishing(t), ...groupedSettling(t)] : []),
  },
  {
    name: 'events/0004-why-exhausted',
    up: (t, d) => [
      `ALTER TABLE ${t.deliveries} ADD COLUMN end_reason TEXT`,
      ...(d.name === 'sqlite' ? exhaustedWhenDisabled(t) : []),
    ],
  },
  {
    // Only what fails is written to it, so publishing and successful deliveries are as fast without it.
    name: 'events/0005-failed-deliveries',
    up: (t) => [
      `CREATE INDEX ${t.deliveries}_failed ON ${t.deliveries} (webhook_id, id)
        WHERE status IN ('exhausted', 'blocked', 'skipped')`,
    ],
  },
  {
    // The context of the span that published it: attempts continue its trace.
    name: 'events/0006-traceparent',
    up: (t, d) => [
      `ALTER TABLE ${t.events} ADD COLUMN traceparent TEXT`,
      ...(d.name === 'sqlite' ? groupedPublishing(t, ', traceparent') : []),
    ],
  },
]

/**
 * A view whose triggers spread one inserted row over several tables, so that a whole group of events is
 * one statement and one commit: an event with its first delivery, and each further one by itself.
 *
 * @param more a column of events that was added later, after a comma
 */
function groupedPublishing(t: Tables, more = ''): readonly string[] {
  const moreNew = more.replace(', ', ', new.')
  return [
    `DROP VIEW IF EXISTS ${t.publishing}`,
    `CREATE VIEW ${t.publishing} AS
      SELECT account_id, id AS event_id, app_id, type, created_at AS happened_at, body,
        NULL AS id, NULL AS webhook_id, NULL AS status, NULL AS next_at, NULL AS created_at,
        NULL AS done_at, NULL AS claim, NULL AS cause${more}
      FROM ${t.events}`,
    `CREATE TRIGGER ${t.publishing}_event INSTEAD OF INSERT ON ${t.publishing}
      WHEN new.body IS NOT NULL BEGIN
        INSERT INTO ${t.events} (account_id, id, app_id, type, created_at, body${more})
          VALUES (new.account_id, new.event_id, new.app_id, new.type, new.happened_at, new.body${moreNew});
      END`,
    `CREATE TRIGGER ${t.publishing}_delivery INSTEAD OF INSERT ON ${t.publishing}
      WHEN new.id IS NOT NULL BEGIN
        INSERT INTO ${t.deliveries} (id, account_id, webhook_id, event_id, event_type, app_id,
            status, attempts, automatic, cause, retry, next_at, created_at, done_at, claim)
          VALUES (new.id, new.account_id, new.webhook_id, new.event_id, new.type, new.app_id,
            new.status, 0, 0, new.cause, 0, new.next_at, new.created_at, new.done_at, new.claim);
      END`,
  ]
}

/** The same of outcomes: the delivery's state, the attempt, and the webhook's health, as `afterAttempt` says. */
function groupedSettling(t: Tables): readonly string[] {
  // What would be tried again is skipped when its webhook was disabled meanwhile.
  const skipped = (column: string, instead: string): string =>
    `CASE WHEN new.status = 'pending' AND EXISTS (SELECT 1 FROM ${t.webhooks} w
       WHERE w.id = ${t.deliveries}.webhook_id AND w.status = 'disabled')
     THEN ${instead} ELSE ${column} END`
  return [
    `DROP VIEW IF EXISTS ${t.settling}`,
    `CREATE VIEW ${t.settling} AS
      SELECT delivery_id, NULL AS claim, NULL AS webhook_id, NULL AS verdict, number, cause,
        started_at, duration, status_code, error, response, NULL AS status,
        NULL AS automatic, NULL AS next_cause, NULL AS next_at, NULL AS done_at
      FROM ${t.attempts}`,
    settlingTrigger(t, {
      status: skipped('new.status', "'skipped'"),
      next_at: skipped('new.next_at', 'NULL'),
      done_at: skipped('new.done_at', 'new.started_at + new.duration'),
    }),
  ]
}

/** The columns that say whether, when and why a delivery ends. */
interface Ending {
  readonly status: string
  readonly next_at: string
  readonly done_at: string
  readonly end_reason?: string
}

function settlingTrigger(t: Tables, { status, next_at, done_at, end_reason }: Ending): string {
  const at = 'new.started_at + new.duration'
  const counts = isCountedFailure('new.verdict', 'new.cause')
  const unlessSuccess = (column: string, success: string): string =>
    `CASE WHEN new.verdict = 'succeeded' THEN ${success} ELSE ${column} END`
  const reason = end_reason === undefined ? '' : `, end_reason = ${end_reason}`
  return `CREATE TRIGGER ${t.settling}_attempt INSTEAD OF INSERT ON ${t.settling} BEGIN
        UPDATE ${t.deliveries} SET status = ${status},
            attempts = new.number,
            automatic = new.automatic, cause = new.next_cause, retry = new.next_cause = 'retry',
            next_at = ${next_at},
            done_at = ${done_at}, claim = NULL${reason}
          WHERE id = new.delivery_id AND claim = new.claim AND status = 'delivering';
        INSERT INTO ${t.attempts} (delivery_id, number, cause, started_at, duration, status_code,
            error, response)
          SELECT new.delivery_id, new.number, new.cause, new.started_at, new.duration,
            new.status_code, new.error, new.response WHERE changes() = 1;
        UPDATE ${t.webhooks} SET
            consecutive_failures = ${unlessSuccess(`consecutive_failures + ${counts}`, '0')},
            first_failure_at = ${unlessSuccess(
              `CASE WHEN ${counts} THEN COALESCE(first_failure_at, ${at}) ELSE first_failure_at END`,
              'NULL',
            )},
            failing_at = ${unlessSuccess('failing_at', 'NULL')},
            last_success_at = ${unlessSuccess('last_success_at', at)},
            last_delivery_at = ${at}
          WHERE id = new.webhook_id AND changes() = 1
            AND ${isWorthWriting("new.verdict <> 'succeeded'", at)};
      END`
}

/** The trigger of settling: what would be tried again is exhausted when its webhook was disabled meanwhile. */
function exhaustedWhenDisabled(t: Tables): readonly string[] {
  const isDisabled = `new.status = 'pending' AND EXISTS (SELECT 1 FROM ${t.webhooks} w
       WHERE w.id = ${t.deliveries}.webhook_id AND w.status = 'disabled')`
  const unlessDisabled = (column: string, instead: string): string =>
    `CASE WHEN ${isDisabled} THEN ${instead} ELSE ${column} END`
  return [
    `DROP TRIGGER IF EXISTS ${t.settling}_attempt`,
    settlingTrigger(t, {
      status: unlessDisabled('new.status', "'exhausted'"),
      next_at: unlessDisabled('new.next_at', 'NULL'),
      done_at: unlessDisabled('new.done_at', 'new.started_at + new.duration'),
      end_reason: unlessDisabled('NULL', "'webhook_disabled'"),
    }),
  ]
}
