import type { Instant } from '../../../lib/time.ts'
import type { ObjectRef } from '../../../plugins/billing/contract.ts'
import type { PlatformTx } from '../../../plugins/platform/contract.ts'
import type { ProcessorEvent } from '../../../plugins/platform/contract/payments.ts'
import type { Platform } from '../../platform.ts'
import { enqueueObject } from './enqueue.ts'

/** The unit of work in which a fact is applied. */
export interface Applying {
  readonly platform: Pick<Platform, 'engine' | 'billing' | 'newId'>
  readonly tx: PlatformTx
  /** Name of the processor. */
  readonly processor: string
  readonly currency: string
  /** The event that told of it. */
  readonly event: Pick<ProcessorEvent, 'id'>
  readonly now: Instant
}

export type Outcome = Pick<ProcessorEvent, 'status' | 'error'>

export const DONE: Outcome = { status: 'done', error: null }
/** It concerns nobody here, or nothing that it could change. */
export const IGNORED: Outcome = { status: 'ignored', error: null }
export const failed = (error: string): Outcome => ({ status: 'failed', error })

/** The account of a customer of the processor; undefined for a stranger. */
export async function accountOfCustomer(
  { tx, processor }: Applying,
  customerId: string,
): Promise<string | undefined> {
  return (await tx.payments.customerOf(processor, customerId))?.account_id
}

/** Has an object fetched that may have been told of before what it depends on was known. */
export async function followUp(applying: Applying, ref: ObjectRef): Promise<void> {
  const { platform, tx, processor, now } = applying
  const occasion = { processor, source: 'request', type: 'follow_up', event_id: null, now } as const
  await enqueueObject(platform, tx, ref, occasion)
}

/** Records for the owners of an account what the processor changed. */
export async function auditProcessor(
  { platform, tx, processor, event, now }: Applying,
  entry: {
    readonly account_id: string
    readonly action: string
    readonly target_type: string
    readonly target_id: string
  },
): Promise<void> {
  await tx.requests.insertAudit({
    ...entry,
    id: platform.newId(),
    at: now,
    actor_type: 'processor',
    actor_id: processor,
    app_id: null,
    request_id: event.id,
    ip: null,
    protocol: null,
    client: null,
    origins: null,
  })
}
