import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

export const portalSessions: readonly Migration<PlatformTables>[] = [
  {
    name: 'portal/0001-portal-sessions',
    up: (t, d) => [
      `CREATE TABLE ${t.portal_sessions} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        hash ${d.id} NOT NULL UNIQUE,
        scopes TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        opened_at BIGINT,
        expires_at BIGINT NOT NULL
      )`,
      `CREATE INDEX ${t.portal_sessions}_of_account ON ${t.portal_sessions} (account_id, id)`,
      `CREATE INDEX ${t.portal_sessions}_by_end ON ${t.portal_sessions} (expires_at, id)`,
    ],
  },
]
