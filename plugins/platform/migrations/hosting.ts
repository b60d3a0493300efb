import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

/** What was charged for what apps serve. */
export const hosting: readonly Migration<PlatformTables>[] = [
  {
    name: 'hosting/0001-charges',
    up: (t, d) => [
      `CREATE TABLE ${t.hosting_charges} (
        app_id ${d.id} NOT NULL,
        day ${d.id} NOT NULL,
        meter ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        quantity BIGINT NOT NULL,
        charged BIGINT NOT NULL,
        parts INTEGER NOT NULL,
        price_version TEXT NOT NULL,
        price TEXT NOT NULL,
        PRIMARY KEY (app_id, day, meter),
        CHECK (quantity >= 0 AND charged >= 0 AND parts >= 0)
      ) ${d.clustered}`,
      // What is due is looked for by day.
      `CREATE INDEX ${t.app_usage}_by_day ON ${t.app_usage} (day, meter, app_id)`,
    ],
  },
]
