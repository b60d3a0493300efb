import type { ProcessorPorts, PaymentProcessor } from '../../plugins/billing/processor.ts'
import type { ProcessorHarness } from '../../plugins/billing/processor-conformance.ts'
import { PROCESSORS } from '../../plugins/registry.ts'
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

/** `fetch` with the promises of the guarded client; it notes what it is given. */
export function fetchNoting(sent: Sent[]): ProcessorPorts['fetch'] {
  return (url, init = {}) => {
    const { method = 'GET', headers } = init
    if (typeof url !== 'string') throw new TypeError('not supported')
    sent.push({ url, method, headers: [...new Headers(headers)] })
    return fetch(url, { ...init, redirect: 'manual' })
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
    fetch: fetchNoting([]),
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
  const processor = await openStripe({ fetch: fetchNoting(sent), ...ports, settings })
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
      await fake.close()
    },
  }
}
