import type { Wire } from './error.ts'
import { ApiError, isWire, toApiError } from './error.ts'
import type { ApiRequest } from './request.ts'
import type { CallOptions } from './types.ts'

/** Maximum attempts of a repeatable call. */
const ATTEMPTS = 3

const FIRST_WAIT = 250
/** Maximum milliseconds that a `Retry-After` may delay a call. */
const LONGEST_WAIT = 60_000

const PASSING: ReadonlySet<number> = new Set([429, 503])

/** Whether the same request may succeed soon, also when it is still in progress. */
function isPassing(status: number, code: string): boolean {
  return PASSING.has(status) || code === 'idempotency_in_progress'
}

/**
 * Milliseconds until the next attempt; undefined when it is too long.
 *
 * @param attempt number of the failed attempt, from 1
 * @param retryAfter the header: seconds or a date; null: the wait doubles from 250 ms
 * @param random from 0 to 1; lengthens the wait by up to half
 */
export function waitAfter(
  attempt: number,
  retryAfter: string | null,
  now: number,
  random: number,
): number | undefined {
  const named = retryAfter === null ? undefined : readRetryAfter(retryAfter, now)
  const wait = named ?? FIRST_WAIT * 2 ** (attempt - 1) * (1 + random / 2)
  return wait > LONGEST_WAIT ? undefined : wait
}

function readRetryAfter(text: string, now: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** Dependencies of sending; `createClient` has a default for each. */
export interface SendPorts {
  readonly baseUrl: string
  readonly key: string | (() => string | undefined) | undefined
  readonly account: string | undefined
  readonly session?: 'user' | 'operator' | undefined
  /** Timeout of one attempt in milliseconds. */
  readonly timeout: number
  readonly request: typeof globalThis.fetch
  /** Resolves after the milliseconds, or rejects with the signal's reason. */
  readonly wait: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>
}

/** Sends a request until it succeeds, and resolves with the JSON of the response. */
export type Send = (request: ApiRequest, options?: CallOptions) => Promise<unknown>

/** Outcome of one attempt. */
type Outcome =
  | { readonly answer: unknown }
  | { readonly error: ApiError; readonly passing: boolean; readonly retryAfter: string | null }

/**
 * Sends over `fetch`; a repeatable request up to three times.
 *
 * @throws TypeError for an invalid base address
 */
export function createSend(ports: SendPorts): Send {
  const base = new URL(ports.baseUrl).href.replace(/\/+$/, '')
  return async (request, options = {}) => {
    const { signal } = options
    const headers = headersOf(ports, request, options)
    for (let attempt = 1; ; attempt++) {
      const outcome = await attemptOnce(ports, base + request.path, request, headers, signal)
      if ('answer' in outcome) {
        const isOwn = options.idempotencyKey !== undefined
        if (attempt > 1 && !isOwn && isWithoutValue(outcome.answer)) {
          throw valueLost(outcome.answer, request)
        }
        return outcome.answer
      }
      const { error, passing, retryAfter } = outcome
      const again = request.repeatable && passing && attempt < ATTEMPTS
      const wait = again ? waitAfter(attempt, retryAfter, Date.now(), Math.random()) : undefined
      if (wait === undefined) throw error
      await ports.wait(wait, signal)
    }
  }
}

/** Whether a value that is shown once was in the response of an earlier attempt. */
function isWithoutValue(answer: unknown): answer is Wire {
  return isWire(answer) && (answer['key'] === null || answer['secret'] === null)
}

function valueLost({ id }: Wire, { path }: ApiRequest): ApiError {
  const message = /\/rotate(-secret)?$/.test(path)
    ? 'It was rotated, and the response with its new value was lost. Rotate it once more.'
    : 'It was created, and the response with its value was lost. Delete it, and create another one.'
  return new ApiError({ code: 'unexpected_answer', status: 0, message, details: { id } })
}

/**
 * @throws TypeError for a key or an account that a header cannot hold
 */
function headersOf(
  { key, account, session }: SendPorts,
  { method, body }: ApiRequest,
  { idempotencyKey }: CallOptions,
): Headers {
  const bearer = typeof key === 'function' ? key() : key
  return new Headers({
    Accept: 'application/json',
    ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
    ...(account === undefined ? {} : { 'Keyhook-Account': account }),
    ...(session === 'operator' ? { 'Keyhook-Operator': 'session' } : {}),
    // `fetch` chooses the boundary of a multipart body anew for each attempt.
    ...(typeof body === 'string' ? { 'Content-Type': 'application/json' } : {}),
    ...(method === 'POST' ? { 'Idempotency-Key': idempotencyKey ?? randomKey() } : {}),
  })
}

/** `crypto.randomUUID` is missing where a page is not served over https. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function attemptOnce(
  // Destructured, because a browser's fetch must not be called as a method.
  { request, timeout }: SendPorts,
  url: string,
  { method, body, bytes }: ApiRequest,
  headers: Headers,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  signal?.throwIfAborted()
  const deadline = AbortSignal.timeout(timeout)
  try {
    const response = await request(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      // A key acts alone: the cookies of a browser have no part in it.
      ...(headers.has('Authorization') ? { credentials: 'omit' } : {}),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      // The key must not be sent to wherever the service redirects.
      redirect: 'manual',
    })
    if (bytes === true && response.ok) return { answer: await response.blob() }
    return toOutcome(response, parse(await response.text()))
  } catch (cause) {
    signal?.throwIfAborted()
    return { error: faultOf(cause, timeout, deadline), passing: true, retryAfter: null }
  }
}

function toOutcome(response: Response, body: unknown): Outcome {
  if (response.ok && isWire(body)) return { answer: body }
  const error = toApiError(response, body)
  return {
    error,
    passing: isPassing(error.status, error.code),
    retryAfter: response.headers.get('retry-after'),
  }
}

/** Undefined for text that is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function faultOf(cause: unknown, timeout: number, deadline: AbortSignal): ApiError {
  return deadline.aborted
    ? new ApiError({
        code: 'timeout',
        status: 0,
        message: `The service did not answer within ${timeout} ms; what it did is not known.`,
        cause,
      })
    : new ApiError({
        code: 'connection_failed',
        status: 0,
        message: 'The service could not be asked, or went away before it answered.',
        cause,
      })
}
