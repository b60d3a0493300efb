import { ProcessorError } from '../../../plugins/billing/contract.ts'
import type { Platform } from '../../platform.ts'
import type { Processing } from '../billing.ts'
import { enqueueObject, noteUnknown } from './enqueue.ts'

/** What a processor sent. */
export interface Incoming {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

/**
 * Takes an event: it is kept before this resolves, and changes nothing by itself. A repeated event is taken
 * again without effect.
 *
 * @throws ProcessorError `invalid_signature`, or `unavailable` for an event that must be sent again
 */
export async function receiveEvent(
  platform: Pick<Platform, 'store' | 'clock' | 'newId' | 'workAvailable'>,
  { name, processor }: Processing,
  { headers, body }: Incoming,
): Promise<void> {
  const { store, clock, workAvailable } = platform
  const now = clock.now()
  const { id, type, refs } = await processor.receive({ headers, body, now }).catch(ofThisCopy)
  const occasion = { processor: name, source: 'intake', event_id: id, type, now } as const
  await store.write(async (tx) => {
    if (refs.length === 0) await noteUnknown(platform, tx, occasion)
    for (const ref of refs) await enqueueObject(platform, tx, ref, occasion)
  })
  workAvailable.jobs('billing_event')
}

/** A processor that is named by its path throws errors of its own copy of the package. */
function ofThisCopy(cause: unknown): never {
  if (!(cause instanceof ProcessorError)) throw cause
  const { code, internal } = cause
  throw new ProcessorError(code, { cause, ...(internal === undefined ? {} : { internal }) })
}
