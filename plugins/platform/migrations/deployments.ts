import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

export const deployments: readonly Migration<PlatformTables>[] = [
  {
    name: 'deployments/0001-deployments-lines-sites',
    up: (t, d) => [
      `CREATE TABLE ${t.deployments} (
        id ${d.id} PRIMARY KEY,
        app_id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        release INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('publish', 'rollback', 'unpublish')),
        status TEXT NOT NULL CHECK (status IN ('queued', 'building', 'deploying', 'live',
          'superseded', 'unpublished', 'canceled', 'failed')),
        revision INTEGER,
        edit_id TEXT,
        artifact TEXT,
        previous_deployment_id TEXT,
        restored_from TEXT,
        message TEXT,
        reason TEXT,
        error TEXT,
        step TEXT,
        done BIGINT NOT NULL,
        total BIGINT,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        started_at BIGINT,
        live_at BIGINT,
        ended_at BIGINT,
        deadline_at BIGINT,
        cancel_at BIGINT,
        attempts INTEGER NOT NULL,
        announced SMALLINT NOT NULL,
        claim TEXT,
        lease_until BIGINT,
        lines INTEGER NOT NULL DEFAULT 0,
        UNIQUE (app_id, release)
      )`,
      `CREATE INDEX ${t.deployments}_by_app ON ${t.deployments} (app_id, id)`,
      // Whatever else goes wrong, no app has two of either.
      `CREATE UNIQUE INDEX ${t.deployments}_in_progress ON ${t.deployments} (app_id)
        WHERE status IN ('queued', 'building', 'deploying')`,
      `CREATE UNIQUE INDEX ${t.deployments}_live ON ${t.deployments} (app_id)
        WHERE status = 'live'`,
      `CREATE INDEX ${t.deployments}_open ON ${t.deployments} (id)
        WHERE announced = 0 AND status IN ('queued', 'building', 'deploying', 'live')`,
      `CREATE INDEX ${t.deployments}_under_way ON ${t.deployments} (account_id)
        WHERE status IN ('building', 'deploying')`,
      `CREATE TABLE ${t.deployment_lines} (
        deployment_id ${d.id} NOT NULL,
        number INTEGER NOT NULL,
        at BIGINT NOT NULL,
        step TEXT,
        message TEXT NOT NULL,
        PRIMARY KEY (deployment_id, number)
      ) ${d.clustered}`,
      `CREATE TABLE ${t.sites} (
        app_id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        deployment_id ${d.id},
        turn INTEGER NOT NULL,
        preview ${d.id} NOT NULL UNIQUE
      )`,
      // Apps that were made before they could be published.
      `INSERT INTO ${t.sites} (app_id, account_id, deployment_id, turn, preview)
       SELECT id, account_id, NULL, 0, ${
         d.name === 'sqlite'
           ? 'lower(hex(randomblob(12)))'
           : `substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)
              || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)`
       } FROM ${t.apps}`,
    ],
  },
  {
    name: 'deployments/0002-poised',
    up: (t) => [
      `ALTER TABLE ${t.deployments} ADD COLUMN poised SMALLINT NOT NULL DEFAULT 0`,
      // What was live before, however many deployments came to nothing.
      `CREATE INDEX ${t.deployments}_released ON ${t.deployments} (app_id, release)
        WHERE live_at IS NOT NULL AND artifact IS NOT NULL`,
    ],
  },
  {
    name: 'deployments/0003-retire-earlier',
    up: (t) => [
      `ALTER TABLE ${t.deployments} ADD COLUMN retire_earlier SMALLINT NOT NULL DEFAULT 0`,
    ],
  },
  {
    name: 'deployments/0004-ended',
    up: (t) => [
      `CREATE INDEX ${t.deployments}_failed ON ${t.deployments} (app_id, id)
        WHERE status = 'failed'`,
      // What came to nothing, by its age.
      `CREATE INDEX ${t.deployments}_in_vain ON ${t.deployments} (ended_at, id)
        WHERE status IN ('canceled', 'failed')`,
    ],
  },
]
