import { z } from 'zod'
import type { NewEvent, PublishOutcome } from '../../../../lib/engine/ports.ts'
import type { StoreTx } from '../../../../plugins/store/contract.ts'
import type { Call } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { boundDeliveries } from '../deliveries.ts'
import { declaredTypes, judgeBatch, judgeOne, toAnswer } from '../publish.ts'
import { isEvent, isRefusal, printRefusals, toError } from '../refusals.ts'
import { exampleEvent, publishAnswer, publishedBatch, publishedEvent } from '../schema.ts'

/** 500 events of average size; many large events need several requests. */
const BODY_LIMIT = 8 * 1_048_576

export const publishEvents = operation({
  effect: 'publish',
  id: 'events.publish',
  summary: 'Publish an event, or up to 500 with one result each',
  method: 'POST',
  path: '/v1/events',
  access: { scope: 'events:write', pinned: 'allowed' },
  agent: { toolset: 'events' },
  emits: ['events'],
  input: { body: z.union([publishedEvent, publishedBatch]) },
  output: publishAnswer,
  status: 202,
  errors: [
    'undeclared_event_type',
    'reserved_event_type',
    'event_id_conflict',
    'event_too_large',
    'too_many_deliveries',
    'app_not_found',
  ],
  example: {
    body: { type: exampleEvent.type, data: exampleEvent.data },
    response: { id: exampleEvent.id, type: exampleEvent.type, status: 'accepted' },
  },
  bodyLimit: BODY_LIMIT,
  unmetered: 'unless_refused',
  command: 'event publish',
  async run(call) {
    const { body } = call
    const types = await declaredTypes(call)
    if (!('events' in body)) {
      const judged = judgeOne(call, body, types)
      if (isRefusal(judged)) throw toError(judged)
      const [outcome] = await commit(call, [judged])
      const answer = toAnswer(judged, outcome)
      if (isRefusal(answer)) throw toError(answer)
      return answer
    }
    const judged = await boundDeliveries(call, judgeBatch(call, body.events, types))
    const outcomes = (await commit(call, judged.filter(isEvent))).values()
    const answers = judged.map((one) =>
      isRefusal(one) ? one : toAnswer(one, outcomes.next().value),
    )
    if (answers.some(isRefusal)) call.countRefusal()
    return { data: [...printRefusals(answers)] }
  },
})

/** One outcome per event, in order, after the commit. */
function commit(
  { platform: { engine }, tx }: Pick<Call, 'platform'> & { readonly tx: StoreTx | undefined },
  events: readonly NewEvent[],
): Promise<readonly PublishOutcome[]> {
  return tx === undefined ? engine.outbox.publish(events) : engine.publishIn(tx, events)
}
