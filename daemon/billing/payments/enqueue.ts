import type { Instant } from '../../../lib/time.ts'
import type { ObjectRef } from '../../../plugins/billing/contract.ts'
import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import type { ProcessorEvent } from '../../../plugins/platform/contract/payments.ts'
import type { Platform } from '../../platform.ts'

/** Why an object is fetched. */
export interface Occasion extends Pick<ProcessorEvent, 'processor' | 'source' | 'type'> {
  /** The processor's; null where no event told of it. */
  readonly event_id: string | null
  readonly now: Instant
}

/**
 * Has an object fetched and applied, one of an object at a time. False, changing nothing, for an event that
 * is known.
 */
export async function enqueueObject(
  { newId }: Pick<Platform, 'newId'>,
  tx: Pick<PlatformTx, 'payments' | 'jobs'>,
  ref: ObjectRef,
  { now, ...occasion }: Occasion,
): Promise<boolean> {
  const id = newId()
  const isNew = await tx.payments.addEvent({
    ...occasion,
    id,
    ref_kind: ref.kind,
    ref_id: ref.id,
    status: 'pending',
    error: null,
    received_at: now,
    done_at: null,
  })
  if (!isNew) return false
  await tx.jobs.enqueue({
    id,
    kind: 'billing_event',
    app_id: '',
    account_id: '',
    queue: `billing ${ref.kind} ${ref.id}`,
    run_at: null,
  })
  return true
}

/** Notes an event that concerns nothing of ours. */
export async function noteUnknown(
  { newId }: Pick<Platform, 'newId'>,
  tx: Pick<PlatformTx, 'payments'>,
  { now, ...occasion }: Occasion,
): Promise<void> {
  await tx.payments.addEvent({
    ...occasion,
    id: newId(),
    ref_kind: 'none',
    ref_id: '',
    status: 'ignored',
    error: null,
    received_at: now,
    done_at: now,
  })
}
