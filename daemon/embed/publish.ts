import { kernelError } from '../../lib/errors.ts'
import type { NewEvent, PublishOutcome } from '../../lib/engine/ports.ts'
import { JsonError, requireIJson } from '../../lib/internal/json.ts'
import { suggest } from '../../lib/internal/nearest.ts'
import {
  MAX_EVENT_BYTES,
  createEventId,
  isEventId,
  serializeEvent,
} from '../../lib/webhook/event.ts'
import type { StoreTx } from '../../plugins/store/contract.ts'
import { httpError, invalidJson } from '../operations/errors.ts'
import { eventError } from '../families/events/errors.ts'
import type { Platform } from '../platform.ts'
import { readPublish } from './arguments.ts'
import type { Transactions } from './transactions.ts'

/** Event to publish. */
export interface EventToPublish<Type extends string = string> {
  readonly account_id: string
  readonly type: Type
  /** Serialised once, as JSON. */
  readonly data: object
  readonly app_id?: string
  /** Your own id, `evt_…`: publishing the same event again then adds nothing. */
  readonly id?: string
}

export interface Published {
  readonly id: string
  /** `duplicate`: the same event was published before. */
  readonly status: 'accepted' | 'duplicate'
}

export type Publish = (
  event: EventToPublish,
  options?: {
    /** Transaction to publish in. Without it, the event is published by itself; undefined is refused. */
    readonly transaction?: object
  },
) => Promise<Published>

/** Publishes from code: in the outbox's group commit, or in a transaction of the embedder. */
export function createPublish(platform: Platform, transactions: Transactions): Publish {
  const { engine, eventTypes } = platform
  return async (...args) => {
    const [given, { transaction } = {}] = readPublish(args) as typeof args
    if (transaction === undefined) {
      const event = toEvent(platform, given, await eventTypes.declared(given.account_id))
      const [outcome] = await engine.outbox.publish([event])
      return toPublished(event, outcome)
    }
    return transactions.inside(transaction, async (tx) => {
      const event = toEvent(platform, given, await typesIn(tx, platform, given.account_id))
      const [outcome] = await engine.publishIn(tx, [event])
      return toPublished(event, outcome)
    })
  }
}

/**
 * The types that an account may publish. Unknown ones are read on the transaction's own connection: when
 * transactions hold every connection of a pool, one that waits for another connection would wait forever.
 */
async function typesIn(
  tx: StoreTx,
  { eventTypes }: Platform,
  accountId: string,
): Promise<ReadonlySet<string>> {
  const known = eventTypes.peek(accountId)
  if (known !== undefined) return known
  // The next publish knows them, once a connection is free.
  eventTypes.declared(accountId).catch(() => undefined)
  return new Set(await tx.events.typeNames(accountId))
}

function toEvent(
  { eventTypes, clock, random }: Platform,
  given: EventToPublish,
  types: ReadonlySet<string>,
): NewEvent {
  const { account_id, type, data, app_id = null, id } = given
  if (!types.has(type)) {
    const details = { type }
    if (eventTypes.isReserved(type)) throw eventError('reserved_event_type', { details })
    const message =
      `The type ${JSON.stringify(type)} is not declared.${suggest(type, types)} Declare it first: for all ` +
      'accounts with eventTypes of createKeyhook(), for one with keyhook.as(account).events.declareType().'
    throw eventError('undeclared_event_type', { message, details })
  }
  if (id !== undefined && !isEventId(id)) {
    throw httpError('invalid_request', { message: 'An event id is evt_ and letters, digits or _.' })
  }
  const created_at = clock.now()
  const eventId = id ?? createEventId(created_at, random)
  const text = JSON.stringify(data) as string | undefined
  if (text !== undefined) refuseBrokenText(text)
  const body = serializeEvent({ id: eventId, type, created_at, data: text ?? data })
  if (body.length > MAX_EVENT_BYTES) {
    throw kernelError('event_too_large', { details: { bytes: body.length } })
  }
  return { id: eventId, account_id, app_id, type, created_at, body, supplied: id !== undefined }
}

/** Same rules as a body over HTTP: an event published here must not break a receiver either. */
function refuseBrokenText(text: string): void {
  try {
    requireIJson(text)
  } catch (cause) {
    throw cause instanceof JsonError ? invalidJson(cause, 'data') : cause
  }
}

function toPublished({ id }: NewEvent, outcome: PublishOutcome | undefined): Published {
  if (outcome === 'conflict') throw eventError('event_id_conflict', { details: { id } })
  return { id, status: outcome === 'duplicate' ? 'duplicate' : 'accepted' }
}
