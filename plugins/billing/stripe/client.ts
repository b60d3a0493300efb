import pRetry from 'p-retry'
import { Stripe } from 'stripe'
import type { z } from 'zod'
import type { Clock } from '../../../lib/engine/ports.ts'
import { SECOND, type Millis } from '../../../lib/time.ts'
import { ProcessorError, type ProcessorPorts } from '../contract.ts'
import { isKept, processorError } from './failures.ts'
import { GuardedClient } from './http.ts'
import type { StripeSettings } from './settings.ts'

/** Written out, so that another version of the package is a decision: a test compares it with the package's. */
export const API_VERSION = '2026-10-28.endive' satisfies Stripe.LatestApiVersion

/** For one request, from the call to the last byte. */
const REQUEST_TIMEOUT: Millis = 10 * SECOND
/** For one call with its retries. */
const CALL_TIMEOUT: Millis = 20 * SECOND
const RETRIES = 2
const FIRST_WAIT: Millis = 500

/** One request of the library; `options` carry what names the call and makes it repeatable. */
export type Send = (stripe: Stripe, options: Stripe.RequestOptions) => Promise<unknown>

export interface StripeClient {
  /** For signatures. */
  readonly webhooks: Stripe['webhooks']
  /**
   * Sends a request, again when it may help, and reads the answer.
   *
   * @param how `key` is the idempotency key: every change has one, reads have none
   */
  call<Read>(
    schema: z.ZodType<Read>,
    send: Send,
    how: { readonly key?: string; readonly signal?: AbortSignal },
  ): Promise<Read>
  close(): void
}

const NEVER = new AbortController().signal

export function createStripeClient(
  { apiKey, baseUrl }: Pick<StripeSettings, 'apiKey' | 'baseUrl'>,
  { fetch, clock }: Pick<ProcessorPorts, 'fetch' | 'clock'>,
): StripeClient {
  const http = new GuardedClient({ fetch, clock })
  const isHttps = baseUrl.protocol === 'https:'
  const stripe = new Stripe(apiKey, {
    apiVersion: API_VERSION,
    httpClient: http,
    maxNetworkRetries: 0,
    timeout: REQUEST_TIMEOUT,
    telemetry: false,
    host: baseUrl.hostname,
    port: baseUrl.port === '' ? (isHttps ? 443 : 80) : Number(baseUrl.port),
    protocol: isHttps ? 'https' : 'http',
  })

  /** One request after another, with the same key unless Stripe has kept a failure for it. */
  function sender(send: Send, headers: Readonly<Record<string, string>>, key: string | undefined) {
    let current = key
    return async (): Promise<unknown> => {
      const idempotent = current === undefined ? {} : { idempotencyKey: current }
      try {
        return await send(stripe, { headers, ...idempotent })
      } catch (error) {
        if (current !== undefined && isKept(error)) current = `${current}-again`
        throw processorError(error)
      }
    }
  }

  return {
    webhooks: stripe.webhooks,
    async call(schema, send, { key, signal = NEVER }) {
      const late = new AbortController()
      const failure = new ProcessorError('unavailable', {
        internal: `no answer in ${CALL_TIMEOUT} ms`,
      })
      const cancel = clock.after(CALL_TIMEOUT, () => late.abort(failure))
      try {
        return await http.under(AbortSignal.any([signal, late.signal]), async (headers, both) => {
          return read(schema, await patiently(sender(send, headers, key), both, clock))
        })
      } finally {
        cancel()
      }
    },
    close: () => http.close(),
  }
}

/** Every request is the same, with the same idempotency key, so that a retry does nothing twice. */
function patiently<T>(
  send: () => Promise<T>,
  signal: AbortSignal,
  clock: Pick<Clock, 'after'>,
): Promise<T> {
  return pRetry(send, {
    retries: RETRIES,
    // The waits are ours: by the injected clock.
    minTimeout: 0,
    async shouldRetry({ error, attemptNumber }) {
      if (!(error instanceof ProcessorError) || !error.retryable || signal.aborted) return false
      await pause(FIRST_WAIT * 2 ** (attemptNumber - 1), signal, clock)
      return true
    },
  })
}

function pause(wait: Millis, signal: AbortSignal, clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel()
      reject(signal.reason as Error)
    }
    const cancel = clock.after(wait, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    signal.addEventListener('abort', abort, { once: true })
  })
}

/** An answer in another form than this version's changes nothing: it is read again later. */
function read<Read>(schema: z.ZodType<Read>, answer: unknown): Read {
  const result = schema.safeParse(answer)
  if (result.success) return result.data
  const paths = result.error.issues.map(({ path }) => path.join('.')).slice(0, 5)
  const internal = `an answer of another form: ${paths.join(', ')}`
  throw new ProcessorError('unavailable', { internal })
}
