import type { EngineStore, EngineTx } from '../../../lib/engine/ports.ts'
import { HEALTHY } from '../../../lib/delivery/health.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import { partsIn, setParts } from '../../../lib/webhook/origin.ts'
import type { ChangeSink } from '../contract/changes.ts'
import type { WebhookReads, WebhookWrites } from '../contract/webhooks.ts'
import { move } from './deliveries.ts'
import { treeOf } from './keys.ts'
import type { Reading, State } from './state.ts'
import { add, change, endPage, isWithin, pageOf } from './state.ts'

export function webhookReads(state: Reading): WebhookReads & Pick<EngineStore, 'webhooksOf'> {
  const ofAccount = (accountId: string) =>
    [...state().webhooks.values()].filter((webhook) => webhook.account_id === accountId)
  return {
    get: async (accountId, id) => ofAccount(accountId).find((webhook) => webhook.id === id),
    list: async ({ account_id, status, within, ...page }) =>
      endPage(
        pageOf(
          ofAccount(account_id)
            .filter((webhook) => status === null || webhook.status === status)
            .filter(({ apps }) => isWithin(apps, within)),
          page,
        ),
        page.bytes,
        ({ events, apps, headers }) =>
          [events, apps, headers].reduce(
            (sum, one) => sum + Buffer.byteLength(one === null ? '' : JSON.stringify(one)),
            0,
          ),
      ),
    webhooksOf: async (accountId) => ofAccount(accountId),
    async fromKey(accountId, keyId) {
      const tree = new Set<string | null>(treeOf(state().keys, keyId))
      return ofAccount(accountId)
        .filter(
          ({ created_by, set_keys }) =>
            (created_by.type === 'key' && tree.has(created_by.id)) ||
            Object.values(set_keys).some((id) => tree.has(id)),
        )
        .sort((a, b) => (a.id < b.id ? -1 : 1))
    },
  }
}

export function webhookWrites(
  state: State,
  changes: ChangeSink,
): WebhookWrites & Pick<EngineTx, 'webhooksOf' | 'disableWebhook' | 'markFailing'> {
  const { webhooks, deliveries } = state
  function noteChange(id: string): void {
    const webhook = webhooks.get(id)
    if (webhook !== undefined) changes.push({ kind: 'webhooks', id: webhook.account_id })
  }
  const changeWebhook = (id: string, columns: Partial<WebhookRecord>): boolean => {
    noteChange(id)
    return change(webhooks, id, columns)
  }
  const deliveriesOf = (id: string) =>
    [...deliveries.values()].filter(({ webhook_id }) => webhook_id === id)
  return {
    ...webhookReads(() => state),
    async insert(webhook) {
      add(webhooks, webhook.id, webhook)
      noteChange(webhook.id)
    },
    async update(id, columns, by, now) {
      const webhook = webhooks.get(id)
      const set = webhook && setParts(webhook, partsIn(columns), by, now)
      return changeWebhook(id, { ...columns, ...set, updated_at: now })
    },
    async rotateSecret(id, secret, olderNotAfter, by, now) {
      const webhook = webhooks.get(id)
      if (webhook === undefined) return false
      const older = webhook.secrets
        .map((one) => ({ ...one, not_after: Math.min(one.not_after ?? Infinity, olderNotAfter) }))
        .filter(({ not_after }) => not_after > now)
      const set = setParts(webhook, ['secret'], by, now)
      return changeWebhook(id, { ...set, secrets: [secret, ...older], updated_at: now })
    },
    async enable(id, now) {
      changeWebhook(id, {
        ...HEALTHY,
        status: 'active',
        disabled_reason: null,
        disabled_at: null,
        updated_at: now,
      })
    },
    async disableWebhook(id, reason, now) {
      if (webhooks.get(id)?.status !== 'active') return false
      for (const one of deliveriesOf(id)) move(state, one, { type: 'webhook_disabled' }, now)
      return changeWebhook(id, {
        status: 'disabled',
        disabled_reason: reason,
        disabled_at: now,
        updated_at: now,
      })
    },
    async markFailing(id, now) {
      const webhook = webhooks.get(id)
      if (webhook?.status !== 'active' || webhook.failing_at !== null) return false
      return change(webhooks, id, { failing_at: now })
    },
    async delete(id, now) {
      for (const one of deliveriesOf(id)) move(state, one, { type: 'webhook_deleted' }, now)
      noteChange(id)
      return webhooks.delete(id)
    },
  }
}
