import { z } from 'zod'
import type { NewEvent, PublishOutcome } from '../../../../lib/engine/ports.ts'
import type { StoreTx } from '../../../../plugins/store/contract.ts'
import type { PublishCall } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { boundDeliveries } from '../deliveries.ts'
import { declaredTypes, judgeBatch, judgeOne, toAnswer } from '../publish.ts'
import type { Judged } from '../refusals.ts'
import { isEvent, isRefusal, printRefusals, toError } from '../refusals.ts'
import type { AcceptedEvent } from '../schema.ts'
import {
  acceptedEvent,
  batchAnswer,
  documentedBatchAnswer,
  exampleEvent,
  publishAnswer,
  publishedBatch,
  publishedEvent,
} from '../schema.ts'

/** 500 events of average size; many large events need several requests. */
const BODY_LIMIT = 8 * 1_048_576

const ERRORS = [
  'undeclared_event_type',
  'reserved_event_type',
  'event_id_conflict',
  'event_too_large',
  'too_many_deliveries',
  'app_not_found',
] as const

/** Common to one event and to several. */
const PUBLISHING = {
  effect: 'publish',
  method: 'POST',
  access: { scope: 'events:write', pinned: 'allowed' },
  emits: ['events'],
  status: 202,
  errors: ERRORS,
  bodyLimit: BODY_LIMIT,
  unmetered: 'unless_refused',
} as const

const ONE = { type: exampleEvent.type, data: exampleEvent.data } as const
const ACCEPTED = { id: exampleEvent.id, type: exampleEvent.type, status: 'accepted' } as const

export const publishEvents = operation({
  ...PUBLISHING,
  id: 'events.publish',
  summary: 'Publish an event',
  path: '/v1/events',
  agent: { toolset: 'events' },
  input: { body: z.union([publishedEvent, publishedBatch]) },
  output: publishAnswer,
  documented: { body: publishedEvent, output: acceptedEvent },
  example: { body: ONE, response: ACCEPTED },
  command: 'event publish',
  async run(call) {
    const types = await declaredTypes(call)
    // Judged here: an async function that waits for the commit would keep a body that it was passed.
    return 'events' in call.body
      ? publishAll(call, judgeBatch(call, call.body.events, types))
      : publishOne(call, judgeOne(call, call.body, types))
  },
})

export const publishBatch = operation({
  ...PUBLISHING,
  id: 'events.publish_batch',
  summary: 'Publish up to 500 events with one result each',
  path: '/v1/events/batch',
  agent: { omit: 'events_publish takes several events too.' },
  input: { body: publishedBatch },
  output: batchAnswer,
  documented: { body: publishedBatch, output: documentedBatchAnswer },
  example: { body: { events: [ONE] }, response: { data: [ACCEPTED] } },
  async run(call) {
    const types = await declaredTypes(call)
    return publishAll(call, judgeBatch(call, call.body.events, types))
  },
})

type Publishing = Pick<PublishCall, 'platform' | 'principal' | 'countRefusal' | 'releaseBody'> & {
  readonly tx: StoreTx | undefined
}

async function publishOne(call: Publishing, judged: Judged): Promise<AcceptedEvent> {
  if (isRefusal(judged)) throw toError(judged)
  const [outcome] = await commit(call, [judged])
  const answer = toAnswer(judged, outcome)
  if (isRefusal(answer)) throw toError(answer)
  return answer
}

async function publishAll(
  call: Publishing,
  judged: readonly Judged[],
): Promise<z.input<typeof batchAnswer>> {
  const bounded = await boundDeliveries(call, judged)
  const outcomes = (await commit(call, bounded.filter(isEvent))).values()
  const answers = bounded.map((one) =>
    isRefusal(one) ? one : toAnswer(one, outcomes.next().value),
  )
  if (answers.some(isRefusal)) call.countRefusal()
  return { data: [...printRefusals(answers)] }
}

/** One outcome per event, in order, after the commit. */
function commit(
  { platform: { engine }, tx, releaseBody }: Publishing,
  events: readonly NewEvent[],
): Promise<readonly PublishOutcome[]> {
  if (tx !== undefined) return engine.publishIn(tx, events)
  // Dozens of requests wait for one commit, and each garbage collection would copy their bodies.
  releaseBody()
  return engine.outbox.publish(events)
}
