import type { FieldError } from '../../../lib/errors.ts'
import { kernelError } from '../../../lib/errors.ts'
import { holdsApp } from '../../../lib/grant/authority.ts'
import type { NewEvent, PublishOutcome } from '../../../lib/engine/ports.ts'
import { elementSpans, memberSpan } from '../../../lib/internal/json-text.ts'
import { suggestEach } from '../../../lib/internal/nearest.ts'
import { MAX_EVENT_BYTES, createEventId, serializeEvent } from '../../../lib/webhook/event.ts'
import type { z } from 'zod'
import type { Call } from '../../operations/call.ts'
import { httpError } from '../../operations/errors.ts'
import type { Platform } from '../../platform.ts'
import { createInputReader } from '../../operations/read-input.ts'
import type { Principal } from '../../authority/principal.ts'
import { accountOf } from '../../authority/principal.ts'
import { eventError } from './errors.ts'
import type { Judged, Refusal } from './refusals.ts'
import { refuse } from './refusals.ts'
import type { AcceptedEvent } from './schema.ts'
import { publishedEvent } from './schema.ts'

/** Hint for declaring a type. */
const DECLARE =
  'Declare it first: KEYHOOK_EVENT_TYPES (eventTypes when embedded), `keyhook event declare` or ' +
  'PUT /v1/event-types/{type}.'

type Published = z.output<typeof publishedEvent>
type Caller = Pick<Call, 'platform' | 'principal' | 'now' | 'bodyText'>

const readEvent = createInputReader(publishedEvent)

/** The types that this account may publish; synchronous when they are cached. */
export async function declaredTypes({ platform, principal }: Caller): Promise<ReadonlySet<string>> {
  const account = accountOf(principal)
  return platform.eventTypes.peek(account) ?? (await platform.eventTypes.declared(account))
}

/** Checks the only event of a body. */
export function judgeOne(caller: Caller, body: Published, types: ReadonlySet<string>): Judged {
  return judge(caller, body, dataText(caller.bodyText, 0), types, suggestEach(types))
}

/** Checks each event of a batch by itself. */
export function judgeBatch(
  caller: Caller,
  elements: readonly unknown[],
  types: ReadonlySet<string>,
): readonly Judged[] {
  const { bodyText } = caller
  const list = memberSpan(bodyText, 0, 'events')
  const spans = list === undefined ? [] : elementSpans(bodyText, list.from)
  const suggest = suggestEach(types)
  return elements.map((element, index) => {
    const { value, faults } = readEvent(element, `body.events[${index}]`)
    if (faults !== undefined) return invalid(faults)
    return judge(caller, value, dataText(bodyText, spans[index]?.from ?? 0), types, suggest)
  })
}

function judge(
  { platform, principal, now }: Caller,
  { id, type, ...published }: Published,
  data: string,
  types: ReadonlySet<string>,
  suggest: (type: string) => string,
): Judged {
  const app_id = published.app_id ?? null
  const refused =
    refuseType(platform, type, types, () => `${suggest(type)} ${DECLARE}`) ??
    refuseApp(principal, app_id)
  if (refused !== undefined) return refused
  const account_id = accountOf(principal)
  return createEvent(platform, { id, account_id, app_id, type, data, created_at: now })
}

/**
 * Refuses a type that an account may not publish.
 *
 * @param hintOf how to declare it, after a space; a type is compared with all others only when it is refused
 */
export function refuseType(
  { eventTypes }: Pick<Platform, 'eventTypes'>,
  type: string,
  types: ReadonlySet<string>,
  hintOf: () => string,
): Refusal | undefined {
  if (types.has(type)) return undefined
  const details = { type }
  if (eventTypes.isReserved(type)) return refuse(eventError, 'reserved_event_type', { details })
  const message = `The type ${JSON.stringify(type)} is not declared.${hintOf()}`
  return refuse(eventError, 'undeclared_event_type', { message, details })
}

/** An event to publish; refused when its body is too large. */
export function createEvent(
  { random }: Pick<Platform, 'random'>,
  given: Omit<NewEvent, 'id' | 'body' | 'supplied'> & {
    /** Default: a new one. */
    readonly id: string | undefined
    /** An object, or its exact text as JSON. */
    readonly data: object | string
  },
): Judged {
  const { account_id, app_id, type, created_at, data } = given
  const id = given.id ?? createEventId(created_at, random)
  const body = serializeEvent({ id, type, created_at, data })
  if (body.length > MAX_EVENT_BYTES) {
    return refuse(kernelError, 'event_too_large', { details: { bytes: body.length } })
  }
  const supplied = given.id !== undefined
  return { id, account_id, app_id, type, created_at, body, supplied }
}

/** A pinned key only publishes for its own apps; others do not exist for it. */
function refuseApp({ authority }: Principal, appId: string | null): Refusal | undefined {
  if (authority.pins === 'all') return undefined
  if (appId === null) return refuse(kernelError, 'key_pinned')
  return holdsApp(authority.pins, appId) ? undefined : refuse(kernelError, 'app_not_found')
}

/** Exact text of `data`: it is stored and sent byte for byte. */
function dataText(text: string, at: number): string {
  const span = memberSpan(text, at, 'data')
  return span === undefined ? '{}' : text.slice(span.from, span.to)
}

function invalid(errors: readonly FieldError[]): Refusal {
  return refuse(httpError, 'invalid_request', { errors })
}

/** Outcome of one event. */
export function toAnswer(
  event: NewEvent,
  outcome: PublishOutcome | undefined,
): AcceptedEvent | Refusal {
  if (outcome === 'conflict') {
    return refuse(eventError, 'event_id_conflict', { details: { id: event.id } })
  }
  const status = outcome === 'duplicate' ? 'duplicate' : 'accepted'
  return { id: event.id, type: event.type, status }
}
