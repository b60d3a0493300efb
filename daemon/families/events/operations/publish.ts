import { z } from 'zod'
import { KeyhookError } from '../../../../lib/errors.ts'
import type { NewEvent, PublishOutcome } from '../../../../lib/engine/ports.ts'
import type { StoreTx } from '../../../../plugins/store/contract.ts'
import { publishOperation } from '../../../family.ts'
import type { Platform } from '../../../platform.ts'
import type { Judged } from '../publish.ts'
import { createRefusals, declaredTypes, judgeBatch, judgeOne, toAnswer } from '../publish.ts'
import { exampleEvent, publishAnswer, publishedBatch, publishedEvent } from '../schema.ts'

/** 500 events, of which few are large: whoever has many large ones sends several requests. */
const BODY_LIMIT = 8 * 1_048_576

export const publishEvents = publishOperation({
  id: 'events.publish',
  summary: 'Publish an event, or up to 500 with one answer each',
  method: 'POST',
  path: '/v1/events',
  access: { scope: 'events:write', pinned: 'allowed' },
  emits: ['events'],
  input: { body: z.union([publishedEvent, publishedBatch]) },
  output: publishAnswer,
  status: 202,
  errors: [
    'undeclared_event_type',
    'reserved_event_type',
    'event_id_conflict',
    'event_too_large',
    'app_not_found',
  ],
  example: {
    body: { type: exampleEvent.type, data: exampleEvent.data },
    response: { id: exampleEvent.id, type: exampleEvent.type, status: 'accepted' },
  },
  bodyLimit: BODY_LIMIT,
  unmetered: true,
  command: 'event publish',
  async run(call) {
    const { platform, body, tx } = call
    const types = await declaredTypes(call)
    if (!('events' in body)) {
      const judged = judgeOne(call, body, types)
      const [outcome] = await commit(platform, tx, [judged])
      const answer = judged instanceof KeyhookError ? judged : toAnswer(judged, outcome)
      if (answer instanceof KeyhookError) throw answer
      return answer
    }
    const judged = judgeBatch(call, body.events, types)
    const outcomes = await commit(platform, tx, judged)
    let next = 0
    const answers = judged.map((one) =>
      one instanceof KeyhookError ? one : toAnswer(one, outcomes[next++]),
    )
    const toRefused = createRefusals()
    return {
      data: answers.map((one) => (one instanceof KeyhookError ? toRefused(one) : one)),
    }
  },
})

/** One outcome per event that was not refused, in their order, after the commit. */
async function commit(
  { engine }: Platform,
  tx: StoreTx | undefined,
  judged: readonly Judged[],
): Promise<readonly PublishOutcome[]> {
  const events = judged.filter((one): one is NewEvent => !(one instanceof KeyhookError))
  return tx === undefined ? engine.outbox.publish(events) : engine.publishIn(tx, events)
}
