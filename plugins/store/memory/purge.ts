import { uuid7Floor } from '../../../lib/internal/uuid7.ts'
import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { PurgeKind } from '../contract.ts'
import { lineOf } from './keys.ts'
import type { State } from './state.ts'
import { keyOf } from './state.ts'

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

/** Deletes up to `limit` old secrets that are listed with their owners: keys or webhooks. */
function oldestSecrets<T extends { readonly secrets: readonly { not_after: Instant | null }[] }>(
  owners: Map<string, T>,
  isOld: (secret: T['secrets'][number], id: string) => boolean,
  limit: number,
): number {
  let deleted = 0
  for (const [id, owner] of owners) {
    const secrets = owner.secrets.filter(
      (secret) => deleted >= limit || !isOld(secret, id) || ++deleted === 0,
    )
    owners.set(id, Object.freeze({ ...owner, secrets }))
  }
  return deleted
}

/** Deletes up to `limit` values of keys that ended, and were replaced, before an instant. */
function oldestValues({ keys, endedSecrets }: State, before: Instant, limit: number): number {
  const created = new Map<string, Instant>()
  const note = (id: string, { version, created_at }: KeySecret) =>
    created.set(keyOf(id, String(version)), created_at)
  for (const { key_id, secret } of endedSecrets.values()) note(key_id, secret)
  for (const { id, secrets } of keys.values()) for (const secret of secrets) note(id, secret)
  // A value that ended at once has the instant 0; until its replacement is old its error is `key_rotated`.
  const isOld = ({ version, created_at, not_after }: KeySecret, id: string): boolean =>
    created_at < before &&
    ended(before, not_after) &&
    (created.get(keyOf(id, String(version + 1))) ?? 0) < before
  const deleted = oldest(endedSecrets, ({ key_id, secret }) => isOld(secret, key_id), limit)
  return deleted + oldestSecrets(keys, isOld, limit - deleted)
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
  key_secrets: oldestValues,
  keys(state, before, limit) {
    const { keys, endedSecrets } = state
    const old = [...keys.values()].filter((key) => isOldKey(state, key, before)).slice(0, limit)
    for (const { id } of old) keys.delete(id)
    for (const [hash, { key_id }] of endedSecrets) if (!keys.has(key_id)) endedSecrets.delete(hash)
    return old.length
  },
  webhook_secrets: ({ webhooks }, before, limit) =>
    oldestSecrets(webhooks, ({ not_after }) => ended(before, not_after), limit),
  audit: ({ audit }, before, limit) => oldest(audit, ({ at }) => at < before, limit),
}

/** It ended long ago, with no key below it, and no webhook names it. */
function isOldKey({ keys, webhooks }: State, key: KeyRecord, before: Instant): boolean {
  const hasEnded = lineOf(keys, key.id).some(
    ({ revoked_at, expires_at }) => ended(before, revoked_at) || ended(before, expires_at),
  )
  if (!hasEnded || (key.revoked_at ?? 0) >= before) return false
  if ([...keys.values()].some(({ parent_id }) => parent_id === key.id)) return false
  return ![...webhooks.values()].some(
    ({ created_by, set_by, set_keys }) =>
      created_by.id === key.id || set_by.id === key.id || Object.values(set_keys).includes(key.id),
  )
}
