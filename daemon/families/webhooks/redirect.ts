import { kernelError } from '../../../lib/errors.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import type { WebhookChanges } from '../../../plugins/store/contract/webhooks.ts'
import { receivableTypes, requireReceivable } from '../../events/authority.ts'
import type { WriteCall } from '../../operations/call.ts'
import { pinsOf } from '../../authority/principal.ts'
import { requireStepUp } from '../../authority/admission.ts'
import { loadActor } from '../keys/service.ts'

/** The fields that decide where events are sent, and which. */
type Target = Pick<WebhookChanges, 'url' | 'events' | 'apps'>
type RequestedTarget = { readonly [Part in keyof Target]: Target[Part] | undefined }

/** The fields of a target that differ from the webhook's: unchanged ones have no effect. */
export function changedTarget(
  webhook: WebhookRecord,
  { url, events, apps }: RequestedTarget,
): Target {
  return {
    ...(url === undefined || url === webhook.url ? {} : { url }),
    ...(events === undefined || isSameList(events, webhook.events) ? {} : { events }),
    ...(apps === undefined || isSameList(apps, webhook.apps) ? {} : { apps }),
  }
}

/**
 * Refuses a caller who may not give a webhook this target, or may not enable it: a session without a recent
 * proof, the previous value of a key, and a key that may not receive the events itself.
 *
 * @throws KeyhookError `step_up_required`, `previous_value_restricted`, `insufficient_scope`, `key_pinned`
 */
export async function requireRedirect(
  call: Pick<WriteCall, 'platform' | 'principal' | 'tx' | 'now'>,
  webhook: WebhookRecord,
  target: Target,
  enables: boolean,
): Promise<void> {
  const { platform, principal, tx, now } = call
  const isRedirected = Object.keys(target).length > 0
  if (!isRedirected && !enables) return
  if (sendsTask(webhook) && (target.url !== undefined || target.events !== undefined)) {
    throw kernelError('insufficient_scope', {
      message:
        'This webhook sends the updates of one task. The key of the task gives it another address ' +
        'with CreateTaskPushNotificationConfig.',
    })
  }
  if (isRedirected) requireStepUp(principal, now)
  const { authority } = await loadActor(call, isRedirected ? 'refuse previous' : 'allow previous')
  const events = target.events ?? webhook.events
  const isMoved = target.url !== undefined || target.apps !== undefined || enables
  const added = events.filter((one) => !webhook.events.includes(one))
  requireReceivable(platform, authority, isMoved ? events : added)
  if (target.url === undefined) return
  // Events of earlier types and apps may still be queued.
  const types = await receivableTypes(platform, authority, webhook.account_id)
  const { hasUnfinishedBeyond } = tx.deliveries
  if (types !== null && (await hasUnfinishedBeyond(webhook.id, { types, apps: null }))) {
    throw kernelError('insufficient_scope', {
      message: 'Events that the key may not read are still being sent to the present address.',
    })
  }
  const apps = pinsOf(principal)
  if (apps !== null && (await hasUnfinishedBeyond(webhook.id, { types: null, apps }))) {
    throw kernelError('key_pinned', {
      message: 'Events of other apps are still being sent to the present address.',
    })
  }
}

/**
 * Whether it receives what one key asked for, which no scope reads. Every other webhook names a type, and
 * this one never does.
 */
const sendsTask = ({ events }: WebhookRecord): boolean => events.length === 0

function isSameList(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
