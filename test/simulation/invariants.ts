import { isFinal } from '../../lib/delivery/state.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { InspectedDelivery } from '../../plugins/store/contract/deliveries.ts'
import type { Published, Scene } from './engine.ts'
import type { Arrival } from './receivers.ts'

interface Checked {
  readonly violations: readonly string[]
  /** Deliveries that arrived again after they were answered well. */
  readonly twice: number
}

/** What must hold once everything has come to rest. */
export async function checkRun(
  run: Scene & { readonly store: Store; readonly published: Published; readonly crashes: number },
): Promise<Checked> {
  const { store, published, webhooks, receivers, mannerOf } = run
  const violations: string[] = []
  const must = (holds: boolean, what: string): void => {
    if (!holds) violations.push(what)
  }
  const arrived = new Map<string, Arrival[]>()
  for (const arrival of receivers.arrivals) {
    const before = arrived.get(arrival.delivery) ?? []
    arrived.set(arrival.delivery, [...before, arrival])
  }
  let twice = 0
  for (const webhook of webhooks) {
    const kept = await allOf(store, webhook.account_id, webhook.id)
    for (const id of published.acknowledged.keys()) {
      const own = kept.filter(({ delivery }) => delivery.event_id === id)
      must(own.length === 1, `event ${id} has ${own.length} deliveries to ${webhook.id}`)
    }
    for (const { delivery, attempts } of kept) {
      const { id, event_id, status } = delivery
      const got = arrived.get(id) ?? []
      const well = got.filter((one) => one.status === 200)
      must(published.tried.has(event_id), `delivery ${id} is of no event that was published`)
      must(isFinal(status), `delivery ${id} is left ${status}`)
      must(delivery.attempts === attempts.length, `delivery ${id} counts ${delivery.attempts}`)
      must(attempts.length <= 4, `delivery ${id} has ${attempts.length} attempts`)
      must(attempts.length <= got.length + lost(attempts), `delivery ${id} was recorded unsent`)
      const numbers = attempts.map(({ number }) => number)
      must(isCounting(numbers), `attempts of ${id} are numbered ${numbers.join()}`)
      if (mannerOf(webhook.url) === 'well') {
        must(well.length > 0 || status === 'exhausted', `delivery ${id} never arrived`)
      }
      must(status !== 'succeeded' || well.length > 0, `delivery ${id} succeeded unsent`)
      if (well.length > 1) twice += 1
      const bytes = new Set(got.map(({ body }) => Buffer.from(body).toString('latin1')))
      must(bytes.size <= 1, `delivery ${id} arrived with different bytes`)
      must(new Set(got.map(({ url }) => url)).size <= 1, `delivery ${id} went to two places`)
    }
  }
  return { violations, twice }
}

/** Attempts whose request may never have arrived. */
function lost(attempts: InspectedDelivery['attempts']): number {
  return attempts.filter(({ error }) => error === 'timeout').length
}

function isCounting(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => number === index + 1)
}

async function allOf(
  store: Store,
  account_id: string,
  webhook_id: string,
): Promise<readonly InspectedDelivery[]> {
  const filter = { status: null, event_type: null, event_id: null, apps: null }
  const page = { ...filter, account_id, webhook_id, limit: 100_000, after: null }
  return (await store.deliveries.list(page)).rows
}
