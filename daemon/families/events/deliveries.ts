import { receiversOf } from '../../../lib/engine/outbox.ts'
import type { Call } from '../../operations/call.ts'
import { accountOf } from '../../authority/principal.ts'
import { eventError } from './errors.ts'
import type { Judged } from './refusals.ts'
import { isEvent, isRefusal, refuse } from './refusals.ts'

/**
 * Maximum deliveries of one request: 20 events to every webhook of an account, so that a single event
 * always fits. They are one commit, which other accounts wait for.
 */
const MAX_DELIVERIES = 1000

/** Refuses the events of a batch from the first one that exceeds the deliveries of a request. */
export async function boundDeliveries(
  { platform: { engine, eventTypes }, principal }: Pick<Call, 'platform' | 'principal'>,
  judged: readonly Judged[],
): Promise<readonly Judged[]> {
  const targets = await engine.targets.get(accountOf(principal))
  const events = judged.filter(isEvent)
  const receivers = receiversOf(events, [...targets.values()], eventTypes.isBuiltIn).values()
  let made = 0
  return judged.map((one) => {
    if (isRefusal(one)) return one
    made += receivers.next().value?.length ?? 0
    return made > MAX_DELIVERIES ? refuse(eventError, 'too_many_deliveries') : one
  })
}
