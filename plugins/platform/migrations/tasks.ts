import type { Migration } from '../../store/sql/migrations/migration.ts'
import type { PlatformTables } from '../sql/tables.ts'

export const tasks: readonly Migration<PlatformTables>[] = [
  {
    name: 'tasks/0001-tasks-messages',
    up: (t, d) => [
      `CREATE TABLE ${t.agent_tasks} (
        id ${d.id} PRIMARY KEY,
        account_id ${d.id} NOT NULL,
        key_id ${d.id} NOT NULL,
        context_id ${d.id} NOT NULL,
        skill TEXT NOT NULL,
        app_id ${d.id},
        record_path TEXT,
        subject_id ${d.id},
        state TEXT NOT NULL CHECK (state IN ('submitted', 'working', 'input_required', 'completed',
          'failed', 'canceled', 'rejected')),
        state_at BIGINT NOT NULL,
        asked TEXT NOT NULL,
        answer TEXT,
        failure TEXT,
        charged BIGINT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL
      )`,
      `CREATE INDEX ${t.agent_tasks}_of_key ON ${t.agent_tasks} (key_id, state_at, id)`,
      `CREATE INDEX ${t.agent_tasks}_of_context
        ON ${t.agent_tasks} (key_id, context_id, state_at, id)`,
      `CREATE UNIQUE INDEX ${t.agent_tasks}_of_subject ON ${t.agent_tasks} (subject_id)
        WHERE subject_id IS NOT NULL`,
      `CREATE INDEX ${t.agent_tasks}_left ON ${t.agent_tasks} (state_at, id)
        WHERE state NOT IN ('submitted', 'working')`,
      `CREATE TABLE ${t.agent_messages} (
        task_id ${d.id} NOT NULL,
        number INTEGER NOT NULL,
        key_id ${d.id} NOT NULL,
        message_id ${d.id} NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('user', 'agent')),
        fingerprint ${d.id} NOT NULL,
        body TEXT NOT NULL,
        at BIGINT NOT NULL,
        about ${d.id} NOT NULL,
        stands SMALLINT NOT NULL,
        work SMALLINT NOT NULL,
        PRIMARY KEY (task_id, number)
      ) ${d.clustered}`,
      `CREATE INDEX ${t.agent_messages}_sent
        ON ${t.agent_messages} (key_id, message_id, about, task_id, number)`,
      `CREATE UNIQUE INDEX ${t.agent_messages}_same
        ON ${t.agent_messages} (key_id, message_id, fingerprint) WHERE stands = 1`,
      `CREATE UNIQUE INDEX ${t.agent_messages}_work
        ON ${t.agent_messages} (key_id, message_id, about) WHERE work = 1`,
    ],
  },
  {
    name: 'tasks/0002-one-message-one-task',
    up: (t) => [
      `ALTER TABLE ${t.agent_tasks} ADD COLUMN started_at BIGINT`,
      `ALTER TABLE ${t.agent_tasks} ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0`,
      `CREATE INDEX ${t.agent_tasks}_without_work
        ON ${t.agent_tasks} (account_id, state_at, id) WHERE subject_id IS NULL`,
      `DROP INDEX ${t.agent_tasks}_left`,
      `CREATE INDEX ${t.agent_tasks}_by_age ON ${t.agent_tasks} (state_at, id)`,
      // A question could be asked twice under one id; work could not.
      `DROP INDEX ${t.agent_messages}_same`,
      `DROP INDEX ${t.agent_messages}_work`,
      `UPDATE ${t.agent_messages} SET stands = work`,
      `CREATE UNIQUE INDEX ${t.agent_messages}_same
        ON ${t.agent_messages} (key_id, message_id, about) WHERE stands = 1`,
      `ALTER TABLE ${t.agent_messages} DROP COLUMN work`,
    ],
  },
  {
    name: 'tasks/0003-pushes',
    up: (t, d) => [
      `CREATE TABLE ${t.agent_pushes} (
        task_id ${d.id} NOT NULL,
        id ${d.id} NOT NULL,
        account_id ${d.id} NOT NULL,
        webhook_id ${d.id} NOT NULL,
        scheme TEXT,
        created_at BIGINT NOT NULL,
        PRIMARY KEY (task_id, id)
      ) ${d.clustered}`,
      `CREATE INDEX ${t.agent_pushes}_of_account
        ON ${t.agent_pushes} (account_id, created_at, task_id, id)`,
      `CREATE INDEX ${t.agent_pushes}_by_age ON ${t.agent_pushes} (created_at, task_id, id)`,
    ],
  },
]
