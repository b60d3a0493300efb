import { setTimeout as pause } from 'node:timers/promises'
import { elementSpans, memberSpan } from '../../lib/internal/json-text.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Answer } from './ask.ts'
import type { Ask } from './operation-command.ts'
import type { Wire } from './print.ts'

/** An event of the feed. */
export interface FeedEvent {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly position: string
  /** The record as the API printed it, every digit of its numbers included. */
  readonly text: string
  /** `data` of the record, likewise. */
  readonly data: string
}

export interface FollowOptions {
  readonly ask: Ask
  readonly account: string | undefined
  /** Undefined: events from now on. */
  readonly after: string | undefined
  /** Called when the daemon does not answer, and is asked again. */
  readonly lost: (reason: string) => void
}

const EVERY: Millis = SECOND
const LONGEST_PAUSE: Millis = 15 * SECOND

/**
 * The events of an account as they come, without a gap: the daemon is asked for what follows the last one once a
 * second, and after a failure less often.
 *
 * @throws Error for a refusal, and when there is no first answer
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<FeedEvent> {
  const { ask, account, lost } = options
  let position = options.after
  let isBegun = position !== undefined
  let wait = EVERY
  let hasAnswered = false
  for (;;) {
    const query = isBegun
      ? { order: 'asc', limit: '100', ...(position !== undefined && { after: position }) }
      : { limit: '1' }
    const path = `/v1/events?${new URLSearchParams(query).toString()}`
    const answer = await ask({ method: 'GET', path, body: undefined }, account).catch(
      (cause: unknown): string => {
        // A daemon that never answered is not waited for.
        if (!hasAnswered) throw cause
        return cause instanceof Error ? cause.message : String(cause)
      },
    )
    const failure = typeof answer === 'string' ? answer : failureOf(answer)
    if (failure !== undefined || typeof answer === 'string') {
      lost(failure ?? '')
      await pause(wait)
      wait = Math.min(wait * 2, LONGEST_PAUSE)
      continue
    }
    wait = EVERY
    hasAnswered = true
    const events = eventsIn(answer.text)
    if (isBegun) yield* events
    position = events.at(-1)?.position ?? position
    const isMore = isBegun && (JSON.parse(answer.text) as Wire)['has_more'] === true
    isBegun = true
    if (!isMore) await pause(EVERY)
  }
}

/**
 * Why to ask again.
 *
 * @throws Error for a refusal that stays one
 */
function failureOf({ status, text }: Answer): string | undefined {
  if (status < 400) return undefined
  const said = messageIn(text)
  if (status === 429 || status >= 500) return said
  throw new Error(said)
}

/** What a refusal says, in one line. */
export function messageIn(text: string): string {
  const { error } = JSON.parse(text) as { readonly error: Wire }
  return `${String(error['message'])} (${String(error['code'])})`
}

/** The events of a page, in its order. */
function eventsIn(page: string): readonly FeedEvent[] {
  const data = memberSpan(page, 0, 'data')
  if (data === undefined) return []
  return elementSpans(page, data.from).map(({ from, to }) => eventIn(page.slice(from, to)))
}

/** @param text a record of the API */
export function eventIn(text: string): FeedEvent {
  const { id, type, created_at, position } = JSON.parse(text) as FeedEvent
  const data = memberSpan(text, 0, 'data')
  return {
    id,
    type,
    created_at,
    position,
    text,
    data: data ? text.slice(data.from, data.to) : '{}',
  }
}
