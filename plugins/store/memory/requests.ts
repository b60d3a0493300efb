import type { RequestReads, RequestWrites } from '../contract/requests.ts'
import { MOST_LOOKED_AT } from '../contract/page.ts'
import type { Reading, State } from './state.ts'
import { add, change, keyOf, searchPage } from './state.ts'

export function requestReads(state: Reading): RequestReads {
  return {
    audit: async ({ account_id, action, actor_id, target_id, ...page }, most = MOST_LOOKED_AT) =>
      searchPage(
        [...state().audit.values()].filter((one) => one.account_id === account_id),
        page,
        (one) =>
          (action === null || one.action === action) &&
          (actor_id === null || one.actor_id === actor_id) &&
          (target_id === null || one.target_id === target_id),
        most,
      ),
    async idempotency(scope, key, now) {
      const record = state().idempotency.get(keyOf(scope, key))
      return record !== undefined && record.expires_at > now ? record : undefined
    },
  }
}

export function requestWrites(state: State): RequestWrites {
  const { idempotency, audit } = state
  return {
    ...requestReads(() => state),
    async claimIdempotency(record) {
      const at = keyOf(record.scope, record.key)
      const held = idempotency.get(at)
      if (held !== undefined && held.expires_at > record.created_at) return false
      idempotency.set(at, Object.freeze({ ...record }))
      return true
    },
    async answerIdempotency({ scope, key, ...answered }) {
      const at = keyOf(scope, key)
      if (idempotency.get(at)?.answer === null) change(idempotency, at, answered)
    },
    async renewIdempotency({ scope, key, created_at, expires_at }) {
      const at = keyOf(scope, key)
      const held = idempotency.get(at)
      if (held?.answer === null && held.created_at === created_at) {
        change(idempotency, at, { expires_at })
      }
    },
    async dropIdempotency({ scope, key, created_at }) {
      const at = keyOf(scope, key)
      const held = idempotency.get(at)
      if (held?.answer === null && held.created_at === created_at) idempotency.delete(at)
    },
    async insertAudit(record) {
      add(audit, record.id, record)
    },
  }
}
