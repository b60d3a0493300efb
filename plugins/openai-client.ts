import { APIError, OpenAI } from 'openai'
import type { Instant, Millis } from '../lib/time.ts'

/**
 * `fetch` over the guarded HTTP client, which never follows a redirect. It rejects when there is no status
 * line, with `final: true` on the error when a retry cannot help, such as for a refused address, and `internal`
 * with the cause for logs, which contains no credential.
 */
export type Fetch = typeof globalThis.fetch

export interface ModelServer {
  /** Base URL of the API, such as `https://models.example.com/v1`. */
  readonly baseUrl: string
  /** Sent as a bearer token; default none. */
  readonly apiKey?: string | undefined
  readonly fetch: Fetch
}

/** The only request headers: the library adds others that describe the machine. */
const SENT_HEADERS = ['accept', 'authorization', 'content-type'] as const
/** Bytes read of the body of an error. */
const MAX_ERROR_BODY = 16_384
/** The library insists on a timeout; deadlines are the callers'. */
const MAX_TIMEOUT: Millis = 2_147_483_647

/**
 * Creates the client of one server. It sends each request once, logs nothing, and reads no environment
 * variable: retries, deadlines and limits are the callers'.
 */
export function createModelClient({ baseUrl, apiKey, fetch: guarded }: ModelServer): OpenAI {
  return new OpenAI({
    baseURL: baseUrl.replace(/\/+$/, ''),
    // It insists on a key; the header below decides.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: { authorization: apiKey === undefined ? null : `Bearer ${apiKey}` },
    maxRetries: 0,
    timeout: MAX_TIMEOUT,
    logLevel: 'off',
    fetch: (url, init) => limited(guarded, url, init),
  })
}

async function limited(
  send: Fetch,
  url: Parameters<Fetch>[0],
  init: Parameters<Fetch>[1],
): Promise<Response> {
  const given = new Headers(init?.headers)
  const headers = SENT_HEADERS.flatMap((name) => {
    const value = given.get(name)
    return value === null ? [] : [[name, value] as [string, string]]
  })
  const answer = await send(url, { ...init, headers })
  if (answer.ok || answer.body === null) return answer
  return new Response(firstBytes(answer.body, MAX_ERROR_BODY), answer)
}

/** The library would read all of the body. */
async function* firstBytes(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const bytes of body) {
    yield bytes
    size += bytes.length
    if (size >= limit) return
  }
}

/** Why a request has no answer. */
export interface RequestFailure {
  /** Undefined without a status line. */
  readonly status: number | undefined
  /** The code or type of the server's error. */
  readonly code: string | undefined
  /** Wait requested by the server. */
  readonly wait: Millis | undefined
  /** Whether a retry cannot help. */
  readonly isFinal: boolean
  /** For logs. */
  readonly internal: string
}

/**
 * Reads an error of the client. Nothing else of what the server wrote is read: some servers repeat the
 * key, or the prompt.
 */
export function readFailure(error: unknown, now: Instant): RequestFailure {
  const { status, code, type, headers } = error instanceof APIError ? (error as APIError) : NONE
  const cause: unknown = error instanceof APIError ? error.cause : error
  const isFinal = cause instanceof Error && 'final' in cause && cause.final === true
  const reason = cause instanceof Error && 'internal' in cause ? `: ${String(cause.internal)}` : ''
  return {
    status,
    code: [code, type].find((one) => typeof one === 'string'),
    wait: readWait(headers?.get('retry-after') ?? undefined, now),
    isFinal,
    internal: status === undefined ? `the connection failed${reason}` : `status ${status}`,
  }
}

/** The failure of a response whose status is not 200, though the library takes it for a success. */
export function statusOnly(status: number): RequestFailure {
  return { status, code: undefined, wait: undefined, isFinal: false, internal: `status ${status}` }
}

const NONE = { status: undefined, code: undefined, type: undefined, headers: undefined }

/** `Retry-After`, in seconds or as a date; undefined for anything else. */
function readWait(value: string | undefined, now: Instant): Millis | undefined {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
