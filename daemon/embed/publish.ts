import type { NewEvent, PublishOutcome } from '../../lib/engine/ports.ts'
import { JsonError, requireIJson } from '../../lib/internal/json.ts'
import { suggest } from '../../lib/internal/nearest.ts'
import { isEventId } from '../../lib/webhook/event.ts'
import type { StoreTx } from '../../plugins/store/contract.ts'
import { httpError, invalidJson } from '../operations/errors.ts'
import { createEvent, refuseType, toAnswer } from '../families/events/publish.ts'
import type { Refusal } from '../families/events/refusals.ts'
import { isRefusal, toError } from '../families/events/refusals.ts'
import type { Platform } from '../platform.ts'
import { readPublish } from './arguments.ts'
import type { Transactions } from './transactions.ts'

/** Hint for declaring a type. */
const DECLARE =
  'Declare it first: for all accounts with eventTypes of createKeyhook(), for one with ' +
  'keyhook.as(account).events.declareType().'

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

function toEvent(platform: Platform, given: EventToPublish, types: ReadonlySet<string>): NewEvent {
  const { account_id, type, data, app_id = null, id } = given
  const refused = refuseType(platform, type, types, () => `${suggest(type, types)} ${DECLARE}`)
  if (refused !== undefined) throw toError(refused)
  if (id !== undefined && !isEventId(id)) {
    throw httpError('invalid_request', { message: 'An event id is evt_ and letters, digits or _.' })
  }
  const text = JSON.stringify(data) as string | undefined
  if (text !== undefined) refuseBrokenText(text)
  const created_at = platform.clock.now()
  const event = { id, account_id, app_id, type, created_at, data: text ?? data }
  return orThrow(createEvent(platform, event))
}

function orThrow<T extends object>(outcome: T | Refusal): T {
  if (isRefusal(outcome)) throw toError(outcome)
  return outcome
}

/** Same rules as a body over HTTP: an event published here must not break a receiver either. */
function refuseBrokenText(text: string): void {
  try {
    requireIJson(text)
  } catch (cause) {
    throw cause instanceof JsonError ? invalidJson(cause, 'data') : cause
  }
}

function toPublished(event: NewEvent, outcome: PublishOutcome | undefined): Published {
  const { id, status } = orThrow(toAnswer(event, outcome))
  return { id, status }
}
