import type { Migration } from './migration.ts'

export const accounts: readonly Migration[] = [
  {
    name: 'accounts/0001-accounts-users-sessions',
    up: (t, d) => [
      `CREATE TABLE ${t.meta} (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
      `CREATE TABLE ${t.accounts} (
        id ${d.id} PRIMARY KEY,
        name TEXT NOT NULL,
        plan TEXT NOT NULL CHECK (plan IN ('free', 'pro')),
        suspended_at BIGINT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL
      )`,
      `CREATE TABLE ${t.users} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL REFERENCES ${t.accounts} (id),
        email TEXT NOT NULL UNIQUE,
        password TEXT NOT NULL,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL
      )`,
      `CREATE TABLE ${t.sessions} (
        hash TEXT PRIMARY KEY,
        user_id ${d.id} NOT NULL REFERENCES ${t.users} (id) ON DELETE CASCADE,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      )`,
      `CREATE INDEX ${t.sessions}_by_user ON ${t.sessions} (user_id)`,
      `CREATE TABLE ${t.setup_links} (hash TEXT PRIMARY KEY, expires_at BIGINT NOT NULL)`,
    ],
  },
  {
    name: 'accounts/0002-session-seen-authenticated',
    up: (t) => [
      `ALTER TABLE ${t.sessions} ADD COLUMN seen_at BIGINT NOT NULL DEFAULT 0`,
      `ALTER TABLE ${t.sessions} ADD COLUMN authenticated_at BIGINT NOT NULL DEFAULT 0`,
      `UPDATE ${t.sessions} SET seen_at = created_at, authenticated_at = created_at`,
    ],
  },
  {
    name: 'accounts/0003-key-limit',
    up: (t) => [`ALTER TABLE ${t.accounts} ADD COLUMN key_limit BIGINT`],
  },
  {
    name: 'accounts/0004-members',
    up: (t) => [
      `ALTER TABLE ${t.users} ADD COLUMN signed_in_at BIGINT`,
      `UPDATE ${t.users} SET signed_in_at =
         (SELECT max(created_at) FROM ${t.sessions} WHERE user_id = ${t.users}.id)`,
      `CREATE INDEX ${t.users}_by_account ON ${t.users} (account_id, id)`,
    ],
  },
]
