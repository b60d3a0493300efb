import type { WebhookRecord } from './record.ts'

/** Whether a webhook wants an event: its type is named, and its app is not filtered out. */
export function matches(
  webhook: Pick<WebhookRecord, 'events' | 'apps'>,
  event: { readonly type: string; readonly app_id: string | null },
): boolean {
  return (
    webhook.events.includes(event.type) &&
    (webhook.apps === null || (event.app_id !== null && webhook.apps.includes(event.app_id)))
  )
}
