import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

export const observations: readonly Migration<PlatformTables>[] = [
  {
    name: 'observations/0001-lines-usage-problems-checks',
    up: (t, d) => [
      `CREATE TABLE ${t.access_lines} (
        position ${d.serial},
        id ${d.id} NOT NULL,
        app_id ${d.id} NOT NULL,
        kind TEXT NOT NULL,
        deployment_id TEXT,
        request_id TEXT NOT NULL,
        at BIGINT NOT NULL,
        method TEXT NOT NULL,
        path TEXT NOT NULL,
        status SMALLINT NOT NULL,
        bytes BIGINT NOT NULL,
        took_ms BIGINT NOT NULL
      )`,
      `CREATE UNIQUE INDEX ${t.access_lines}_by_app ON ${t.access_lines} (app_id, id)`,
      `CREATE INDEX ${t.access_lines}_by_position ON ${t.access_lines} (app_id, position)`,
      `CREATE TABLE ${t.app_usage} (
        app_id ${d.id} NOT NULL,
        day ${d.id} NOT NULL,
        kind ${d.id} NOT NULL,
        meter ${d.id} NOT NULL,
        total BIGINT NOT NULL,
        as_of BIGINT NOT NULL,
        PRIMARY KEY (app_id, day, kind, meter)
      ) ${d.clustered}`,
      `CREATE TABLE ${t.problems} (
        id ${d.id} PRIMARY KEY,
        app_id ${d.id} NOT NULL,
        kind ${d.id} NOT NULL,
        fingerprint ${d.id} NOT NULL,
        type TEXT NOT NULL,
        title TEXT NOT NULL,
        culprit TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('open', 'resolved')),
        count BIGINT NOT NULL,
        first_seen BIGINT NOT NULL,
        last_seen BIGINT NOT NULL,
        deployment_id TEXT,
        edit_id TEXT,
        sample TEXT NOT NULL,
        resolved_at BIGINT,
        reopened_at BIGINT
      )`,
      `CREATE UNIQUE INDEX ${t.problems}_by_fingerprint
        ON ${t.problems} (app_id, kind, fingerprint)`,
      `CREATE INDEX ${t.problems}_by_app ON ${t.problems} (app_id, last_seen, id)`,
      `CREATE INDEX ${t.problems}_by_age ON ${t.problems} (last_seen)`,
      // By their instants first: what is old goes every hour, and there is one of every app a minute.
      `CREATE TABLE ${t.app_checks} (
        at BIGINT NOT NULL,
        app_id ${d.id} NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('pass', 'fail')),
        latency_ms BIGINT,
        message TEXT,
        PRIMARY KEY (at, app_id)
      ) ${d.clustered}`,
      `CREATE INDEX ${t.app_checks}_by_app ON ${t.app_checks} (app_id, at)`,
      `CREATE TABLE ${t.app_probes} (
        app_id ${d.id} PRIMARY KEY,
        due_at BIGINT NOT NULL
      ) ${d.clustered}`,
      `CREATE TABLE ${t.observers} (
        source ${d.id} PRIMARY KEY,
        batch BIGINT NOT NULL,
        at BIGINT NOT NULL
      ) ${d.clustered}`,
    ],
  },
  {
    name: 'observations/0002-probes-by-time',
    up: (t) => [
      `CREATE INDEX ${t.app_probes}_by_time ON ${t.app_probes} (due_at, app_id)`,
      // An app that is not live has none, and one that is was not always given one before it was first asked.
      `DELETE FROM ${t.app_probes} WHERE app_id NOT IN (
        SELECT app_id FROM ${t.sites} WHERE deployment_id IS NOT NULL)`,
      `INSERT INTO ${t.app_probes} (app_id, due_at)
       SELECT app_id, 0 FROM ${t.sites} WHERE deployment_id IS NOT NULL ON CONFLICT DO NOTHING`,
    ],
  },
  {
    name: 'observations/0003-lines-by-kind',
    up: (t) => [
      // An expression: to read in the order of the column itself, PostgreSQL may walk the primary key, past
      // all lines of others.
      `CREATE INDEX ${t.access_lines}_by_kind ON ${t.access_lines} (app_id, kind, (position + 0))`,
      `DROP INDEX ${t.access_lines}_by_position`,
    ],
  },
]
