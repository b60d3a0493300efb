import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

/** What is settled beside an app: hosts of its own, services that it needs, how its users sign in. */
export const settings: readonly Migration<PlatformTables>[] = [
  {
    name: 'settings/0001-domains-services-sign-in',
    up: (t, d) => [
      `CREATE TABLE ${t.domains} (
        id ${d.id} PRIMARY KEY,
        app_id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        hostname ${d.id} NOT NULL,
        token TEXT NOT NULL,
        is_primary SMALLINT NOT NULL,
        created_by_type TEXT NOT NULL,
        created_by_id TEXT,
        created_at BIGINT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('pending', 'verifying', 'verified', 'failed')),
        owned SMALLINT NOT NULL,
        routed SMALLINT NOT NULL,
        error TEXT,
        failures INTEGER NOT NULL,
        waiting_since BIGINT NOT NULL,
        checked_at BIGINT,
        verified_at BIGINT,
        next_check_at BIGINT,
        claim TEXT,
        lease_until BIGINT
      )`,
      `CREATE INDEX ${t.domains}_by_app ON ${t.domains} (app_id, id)`,
      `CREATE UNIQUE INDEX ${t.domains}_of_app ON ${t.domains} (app_id, hostname)`,
      `CREATE UNIQUE INDEX ${t.domains}_verified ON ${t.domains} (hostname)
        WHERE status = 'verified'`,
      `CREATE INDEX ${t.domains}_due ON ${t.domains} (next_check_at, id)
        WHERE next_check_at IS NOT NULL`,
      `CREATE TABLE ${t.services} (
        app_id ${d.id} NOT NULL,
        name ${d.id} NOT NULL,
        kind TEXT NOT NULL,
        config TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        PRIMARY KEY (app_id, name)
      ) ${d.clustered}`,
      `CREATE TABLE ${t.service_secrets} (
        id ${d.id} PRIMARY KEY,
        app_id ${d.id} NOT NULL,
        service ${d.id} NOT NULL,
        name ${d.id} NOT NULL,
        sealed TEXT NOT NULL
      )`,
      `CREATE INDEX ${t.service_secrets}_by_app ON ${t.service_secrets} (app_id, service, name)`,
      `CREATE TABLE ${t.sign_in} (
        app_id ${d.id} PRIMARY KEY,
        enabled SMALLINT NOT NULL,
        providers TEXT NOT NULL,
        allowed_redirects TEXT NOT NULL,
        session_ttl INTEGER NOT NULL,
        signup TEXT NOT NULL,
        updated_at BIGINT NOT NULL
      )`,
    ],
  },
]
