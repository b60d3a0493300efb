import type { DisablingRule } from '../delivery/health.ts'
import { judgeHealth } from '../delivery/health.ts'
import type { Instant } from '../time.ts'
import type { WebhookRecord } from '../webhook/record.ts'
import type { PublishIn } from './enqueue.ts'
import type {
  Clock,
  EngineEvents,
  EngineStore,
  EngineTx,
  FailedWebhook,
  NewEvent,
} from './ports.ts'
import type { SettledGroup } from './recorder.ts'
import type { Signal } from './signal.ts'

export interface DisablingOptions {
  readonly store: Pick<EngineStore, 'write'>
  readonly settled: Signal<SettledGroup>
  readonly publishIn: PublishIn
  readonly rule: DisablingRule
  readonly clock: Clock
  readonly newEvent: (accountId: string, type: string, data: object, now: Instant) => NewEvent
  readonly events?: Partial<EngineEvents>
}

/**
 * Disables webhooks that fail persistently, at once on a 410, and publishes an event to the account's other
 * webhooks.
 *
 * It judges after the outcomes are committed. When the process ends in between, the next failed attempt
 * finds the same counters and judges again.
 *
 * @returns whether nothing is being judged
 */
export function watchHealth(options: DisablingOptions): { readonly isIdle: boolean } {
  const { store, publishIn, rule, clock, newEvent } = options
  let judging = 0

  /** @param goneUrl the address that responded 410; undefined when none did */
  async function act(
    { webhook_id, account_id, ...seen }: FailedWebhook,
    goneUrl: string | undefined,
  ): Promise<void> {
    const now = clock.now()
    if (goneUrl === undefined && judgeHealth(seen, rule, now) === 'well') return
    const disabled = await store.write(async (tx) => {
      const webhooks = await tx.webhooksOf(account_id)
      const webhook = webhooks.find(({ id }) => id === webhook_id)
      if (webhook === undefined) return false
      // Judged again: a success or the owner may have reset the counters since, or changed the address.
      const gone = goneUrl === webhook.url
      const verdict = gone ? 'disable' : judgeHealth(webhook, rule, now)
      if (verdict === 'disable') return disable(tx, webhook, gone ? 'gone' : 'failures', now)
      if (verdict === 'failing') await warn(tx, webhook, now)
      return false
    })
    if (disabled) options.events?.disabled?.(webhook_id)
  }

  async function disable(
    tx: EngineTx,
    { id, account_id, consecutive_failures }: WebhookRecord,
    reason: 'gone' | 'failures',
    now: Instant,
  ): Promise<boolean> {
    if (!(await tx.disableWebhook(id, reason, now))) return false
    const data = { webhook_id: id, reason, consecutive_failures }
    await publishIn(tx, [newEvent(account_id, 'webhook.disabled', data, now)], id)
    return true
  }

  async function warn(
    tx: EngineTx,
    { id, account_id, consecutive_failures }: WebhookRecord,
    now: Instant,
  ): Promise<void> {
    if (!(await tx.markFailing(id, now))) return
    const data = { webhook_id: id, consecutive_failures }
    await publishIn(tx, [newEvent(account_id, 'webhook.failing', data, now)], id)
  }

  options.settled.listen(({ attempts, failed }) => {
    for (const webhook of failed) {
      const gone = attempts.find(
        ({ webhook_id, verdict }) => webhook_id === webhook.webhook_id && verdict === 'gone',
      )
      judging += 1
      act(webhook, gone?.url)
        .catch((cause: unknown) => {
          options.events?.healthFailed?.(webhook.webhook_id, cause)
        })
        .finally(() => {
          judging -= 1
        })
    }
  })
  return {
    get isIdle() {
      return judging === 0
    },
  }
}
