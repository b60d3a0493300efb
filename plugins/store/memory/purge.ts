import { uuid7Floor } from '../../../lib/internal/uuid7.ts'
import type { Instant } from '../../../lib/time.ts'
import type { PurgeKind } from '../contract.ts'
import type { State } from './state.ts'

type Purge = (state: State, before: Instant, limit: number) => number

/** Deletes up to `limit` of a map's records that are old. */
function oldest<T>(
  rows: Map<string, T>,
  isOld: (row: T, id: string) => boolean,
  limit: number,
): number {
  const old = [...rows].filter(([id, row]) => isOld(row, id)).slice(0, limit)
  for (const [id] of old) rows.delete(id)
  return old.length
}

const ended = (before: Instant, at: Instant | null): boolean => at !== null && at < before

/** Deletes up to `limit` secrets that ended, of keys or of webhooks. */
function endedSecrets<T extends { readonly secrets: readonly { not_after: Instant | null }[] }>(
  owners: Map<string, T>,
  before: Instant,
  limit: number,
): number {
  let deleted = 0
  for (const [id, owner] of owners) {
    const secrets = owner.secrets.filter(
      ({ not_after }) => deleted >= limit || !ended(before, not_after) || ++deleted === 0,
    )
    owners.set(id, Object.freeze({ ...owner, secrets }))
  }
  return deleted
}

export const PURGES: Readonly<Record<PurgeKind, Purge>> = {
  attempts: ({ attempts }, before, limit) =>
    oldest(attempts, (_, id) => id < uuid7Floor(before), limit),
  deliveries: ({ deliveries }, before, limit) =>
    oldest(deliveries, ({ id }) => id < uuid7Floor(before), limit),
  events: ({ events }, before, limit) =>
    oldest(events, ({ created_at }) => created_at < before, limit),
  idempotency: ({ idempotency }, before, limit) =>
    oldest(idempotency, ({ expires_at }) => expires_at < before, limit),
  sessions: ({ sessions }, before, limit) =>
    oldest(sessions, ({ expires_at }) => expires_at < before, limit),
  key_secrets: ({ keys }, before, limit) => endedSecrets(keys, before, limit),
  webhook_secrets: ({ webhooks }, before, limit) => endedSecrets(webhooks, before, limit),
  audit: ({ audit }, before, limit) => oldest(audit, ({ at }) => at < before, limit),
  access_lines: ({ lines }, before, limit) => oldest(lines, ({ at }) => at < before, limit),
  checks: ({ checks }, before, limit) => oldest(checks, ({ at }) => at < before, limit),
  problems: ({ problems }, before, limit) =>
    oldest(problems, ({ last_seen }) => last_seen < before, limit),
  observers: ({ observers }, before, limit) => oldest(observers, ({ at }) => at < before, limit),
}
