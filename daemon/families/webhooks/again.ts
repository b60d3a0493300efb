import type { Instant } from '../../../lib/time.ts'
import type { WebhookRecord } from '../../../lib/webhook/record.ts'
import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import { httpError } from '../../operations/errors.ts'
import type { Call, OwnCall } from '../../operations/call.ts'
import type { FairQueue, Turn } from '../../queues/fair-queue.ts'
import { createFairQueue } from '../../queues/fair-queue.ts'
import { accountOf } from '../../authority/principal.ts'
import type { Change } from '../audit/note.ts'
import { audit, originsOf } from '../audit/note.ts'
import { webhookError } from './errors.ts'

/** Concurrent replays and retries: each may read all events of its account. */
const AT_ONCE = 2
const WAITING = 200

/** One per process: a replay works in chunks for as long as it takes. */
export function createReplayQueue(): FairQueue {
  return createFairQueue({ atOnce: AT_ONCE, waiting: WAITING })
}

/** A queued replay does not begin for a client that has left. */
export function replayTurn(call: Pick<Call, 'principal' | 'abandoned'>): Turn {
  return { holder: accountOf(call.principal), signal: call.abandoned() }
}

/** Refuses to continue a dry run for a client that has disconnected, or for a caller without authority. */
export async function requireAsking(
  { admit }: Pick<Call, 'admit'>,
  { signal }: Turn,
): Promise<void> {
  signal?.throwIfAborted()
  await admit()
}

/**
 * Commits one chunk of a replay. A replay takes long, so every chunk checks the caller's authority again.
 * It continues without its client.
 */
export function unitOfReplay<T>(
  { unit }: Pick<OwnCall, 'unit'>,
  work: (tx: PlatformTx) => Promise<T>,
): Promise<T> {
  return unit(work, { detached: true })
}

/**
 * @throws KeyhookError `webhook_disabled`: its queued deliveries would be skipped at once
 */
export function requireActive({ status }: WebhookRecord): void {
  if (status === 'disabled') throw webhookError('webhook_disabled')
}

/**
 * @throws KeyhookError `invalid_request` for a span that ends before it begins
 */
export function spanOf(
  { since, until = Infinity }: { readonly since: Instant; readonly until?: Instant | undefined },
  now: Instant,
): { readonly since: Instant; readonly until: Instant } {
  // Events published from now on are not replayed.
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

/** Records the replay in the audit log, and notifies the dispatcher after the commit. */
export async function noteAgain(
  call: Change,
  webhook: WebhookRecord,
  action: 'webhook.failed_retried' | 'webhook.replayed',
): Promise<void> {
  const { account_id, id: webhook_id } = webhook
  const origins = originsOf(webhook)
  await audit(call, { account_id, action, target_type: 'webhook', target_id: webhook_id, origins })
  call.tx.afterCommit(() => {
    call.platform.engine.notify({ webhook_id, account_id, due: call.now })
  })
}
