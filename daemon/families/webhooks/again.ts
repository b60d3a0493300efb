import type { Instant } from '../../../lib/time.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import { httpError } from '../../errors.ts'
import type { Change } from '../audit/note.ts'
import { audit, originsOf } from '../audit/note.ts'
import { webhookError } from './errors.ts'

/** @throws KeyhookError `webhook_disabled`: what is queued for it would be skipped at once */
export function requireActive({ status }: WebhookRecord): void {
  if (status === 'disabled') throw webhookError('webhook_disabled')
}

/** @throws KeyhookError `invalid_request` for a span that ends before it begins */
export function spanOf(
  { since, until = Infinity }: { readonly since: Instant; readonly until?: Instant | undefined },
  now: Instant,
): { readonly since: Instant; readonly until: Instant } {
  // What happens from now on is nothing to send again.
  const end = Math.min(until, now + 1)
  if (since < end) return { since, until: end }
  throw httpError('invalid_request', {
    errors: [
      {
        location: 'body.since',
        code: 'empty_span',
        message: 'Must lie in the past, and before until.',
      },
    ],
  })
}

/** Notes what was sent again, and wakes the dispatcher once it is committed. */
export async function noteAgain(
  call: Change,
  webhook: WebhookRecord,
  action: 'webhook.failed_retried' | 'webhook.replayed',
): Promise<void> {
  const { account_id, id: webhook_id } = webhook
  const origins = originsOf(webhook)
  await audit(call, { account_id, action, target_type: 'webhook', target_id: webhook_id, origins })
  call.tx.afterCommit(() => {
    call.platform.engine.wake({ webhook_id, account_id, due: call.now })
  })
}
