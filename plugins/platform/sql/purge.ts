import type { Purge } from '../../store/sql/purge.ts'
import type { PlatformPurgeKind } from '../contract.ts'
import type { PlatformTables } from './tables.ts'

export const platformPurgesOf = (
  t: PlatformTables,
): Readonly<Record<Exclude<PlatformPurgeKind, 'removed_files'>, Purge>> => ({
  access_lines: {
    table: t.access_lines,
    key: 'position',
    old: 'at < $1',
    by: 'instant',
    inOrderOf: 'at',
    evenAhead: true,
  },
  checks: { table: t.app_checks, key: 'at, app_id', old: 'at < $1', by: 'instant' },
  problems: {
    table: t.problems,
    key: 'id',
    old: 'last_seen < $1',
    by: 'instant',
    order: 'last_seen',
  },
  observers: { table: t.observers, key: 'source', old: 'at < $1', by: 'instant' },
  deployments: {
    table: t.deployments,
    key: 'id',
    old: `status IN ('canceled', 'failed') AND ended_at < $1`,
    by: 'instant',
    order: 'ended_at, id',
    // The next one counts on from the last.
    only: `release < (SELECT max(release) FROM ${t.deployments} last
      WHERE last.app_id = ${t.deployments}.app_id)`,
    along: { table: t.job_lines, by: 'job_id' },
  },
  left_aliases: {
    table: t.left_aliases,
    key: 'alias',
    old: 'kept_until < $1',
    by: 'instant',
    order: 'kept_until',
  },
  processor_events: {
    table: t.processor_events,
    key: 'id',
    old: 'received_at < $1',
    by: 'instant',
    order: 'received_at, id',
    // A job still works on the others.
    only: `status <> 'pending'`,
  },
  checkouts: {
    table: t.checkouts,
    key: 'id',
    old: 'expires_at < $1',
    by: 'instant',
    order: 'expires_at, id',
    only: `status <> 'complete'`,
  },
  agent_tasks: {
    table: t.agent_tasks,
    key: 'id',
    old: 'state_at < $1',
    by: 'instant',
    order: 'state_at, id',
    along: { table: t.agent_messages, by: 'task_id' },
  },
  portal_sessions: {
    table: t.portal_sessions,
    key: 'id',
    old: 'expires_at < $1',
    by: 'instant',
    order: 'expires_at, id',
  },
})
