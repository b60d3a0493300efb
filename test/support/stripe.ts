import { parseAllowList } from '../../lib/egress/allow-list.ts'
import type { ProcessorPorts, PaymentProcessor } from '../../plugins/billing/contract.ts'
import type { ProcessorHarness } from '../../plugins/billing/conformance.ts'
import { EGRESS, PROCESSORS } from '../../plugins/registry.ts'
import { API_VERSION } from '../../plugins/billing/stripe/client.ts'
import type { FakeStripe } from '../fake-stripe/fake.ts'
import { FAKE_CARD, FAKE_KEY, FAKE_PRICE, FAKE_SECRET } from '../fake-stripe/names.ts'
import { type FakeStripeOptions, startFakeStripe } from '../fake-stripe/server.ts'
import { tillOf } from '../fake-stripe/till.ts'

/** Waits before another attempt are over at once; timeouts are real. */
const LONGEST_WAIT = 5000

/** What `fetch` was given by the processor. */
export interface Sent {
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
}

/** What no error and no log may contain. */
export const SECRETS: readonly string[] = [FAKE_KEY, FAKE_SECRET, FAKE_CARD]

export function clockOf(waits: number[] = []): ProcessorPorts['clock'] {
  return {
    now: () => Date.now(),
    after(delay, run) {
      const isWait = delay <= LONGEST_WAIT
      if (isWait) waits.push(delay)
      const timer = setTimeout(run, isWait ? 0 : delay)
      return () => clearTimeout(timer)
    },
  }
}

const NEVER = new AbortController().signal
/** What the contract promises of a response. */
const MOST_BYTES = 4 * 1_048_576

/** `fetch` over the guarded client, which reaches one server; it notes what it is given. */
export async function guardedFetch(
  baseUrl: string,
  sent: Sent[] = [],
): Promise<{ readonly fetch: ProcessorPorts['fetch']; close(): Promise<void> }> {
  const createEgress = await EGRESS.undici()
  const egress = createEgress({
    policy: { schemes: [], allow: parseAllowList(new URL(baseUrl).host), ownHosts: [] },
    maxSocketsPerOrigin: 16,
    maxAnswerBytes: MOST_BYTES,
  })
  return {
    async fetch(url, { method = 'GET', headers, body, signal } = {}) {
      if (typeof url !== 'string' || (method !== 'GET' && method !== 'POST')) {
        throw new TypeError('not supported')
      }
      const given = new Headers(headers)
      sent.push({ url, method, headers: [...given] })
      const answer = await egress.stream({
        url,
        method,
        headers: Object.fromEntries(given),
        body: Buffer.from(typeof body === 'string' ? body : ''),
        signal: signal ?? NEVER,
      })
      if (!answer.ok) {
        const final = answer.code === 'refused_address' || answer.code === 'tls'
        throw Object.assign(new Error(answer.message), { final, internal: answer.code })
      }
      const entries = Object.entries(answer.headers).map(([name, value]) => [name, value ?? ''])
      return new Response(answer.body, { status: answer.status, headers: entries })
    },
    close: () => egress.close(),
  }
}

export function settingsOf(
  baseUrl: string,
  changes: Readonly<Record<string, string | undefined>> = {},
): ProcessorPorts['settings'] {
  return {
    KEYHOOK_STRIPE_API_KEY: FAKE_KEY,
    KEYHOOK_STRIPE_WEBHOOK_SECRET: FAKE_SECRET,
    KEYHOOK_STRIPE_PRICE_PRO: FAKE_PRICE,
    KEYHOOK_STRIPE_BASE_URL: baseUrl,
    ...changes,
  }
}

export async function openStripe(ports: Partial<ProcessorPorts>): Promise<PaymentProcessor> {
  const plugin = await PROCESSORS.stripe()
  return plugin.open({
    settings: settingsOf('http://127.0.0.1:9'),
    fetch: () => Promise.reject(new Error('nothing is reached')),
    clock: clockOf(),
    currency: 'USD',
    ...ports,
  })
}

/** Stripe over a fake of its own, as the suite needs it. */
export async function stripeHarness(
  options: Partial<FakeStripeOptions> = {},
  ports: Partial<ProcessorPorts> = {},
): Promise<ProcessorHarness & { readonly fake: FakeStripe; readonly sent: readonly Sent[] }> {
  const fake = await startFakeStripe({ version: API_VERSION, ...options })
  const sent: Sent[] = []
  const settings = settingsOf(fake.url, ports.settings)
  const guarded = await guardedFetch(fake.url, sent)
  const processor = await openStripe({ fetch: guarded.fetch, ...ports, settings })
  return {
    fake,
    sent,
    processor,
    till: tillOf(fake),
    now: () => fake.state.instant(),
    currency: 'USD',
    plan_micros: 25_000_000,
    secrets: SECRETS,
    async close() {
      await processor.close?.()
      await guarded.close()
      await fake.close()
    },
  }
}
