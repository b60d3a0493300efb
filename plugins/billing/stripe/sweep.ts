import type { z } from 'zod'
import { type Instant, SECOND } from '../../../lib/time.ts'
import {
  type ChangedObject,
  type ChangedPage,
  type ObjectKind,
  ProcessorError,
} from '../contract.ts'
import type { StripeClient } from './client.ts'
import { EVENT_TYPES, refsOf } from './events.ts'
import { PAGE, type PageParams } from './fetch.ts'
import { EVENT, LISTED, OF_CHARGE, pageOf } from './shapes.ts'

interface Since extends PageParams {
  readonly created: { readonly gte: number }
}

/** A page of one list: what each element changed, by the element's id. */
interface Found {
  readonly refs: readonly ChangedObject[]
  readonly last: string | undefined
  readonly has_more: boolean
}

type ReadPage = (client: StripeClient, page: Since, signal: AbortSignal) => Promise<Found>

/** Lists of what changed, in the order in which they are read. Events are kept for 30 days, all else for good. */
const SOURCES: Readonly<Record<string, ReadPage>> = {
  async events(client, page, signal) {
    const types = [...EVENT_TYPES]
    const { data, has_more } = await client.call(
      pageOf(EVENT),
      (stripe, options) => stripe.events.list({ ...page, types }, options),
      { signal },
    )
    const refs = data.flatMap((event) => refsOf(event.type, event.data.object))
    return { refs, last: data.at(-1)?.id, has_more }
  },
  async invoices(client, page, signal) {
    const { data, has_more } = await client.call(
      pageOf(LISTED),
      (stripe, options) => stripe.invoices.list({ ...page, status: 'paid' }, options),
      { signal },
    )
    return { refs: listed('invoice', data), last: data.at(-1)?.id, has_more }
  },
  async sessions(client, page, signal) {
    const { data, has_more } = await client.call(
      pageOf(LISTED),
      (stripe, options) => stripe.checkout.sessions.list({ ...page, status: 'complete' }, options),
      { signal },
    )
    return { refs: listed('checkout', data), last: data.at(-1)?.id, has_more }
  },
  async refunds(client, page, signal) {
    const { data, has_more } = await client.call(
      pageOf(OF_CHARGE),
      (stripe, options) => stripe.refunds.list(page, options),
      { signal },
    )
    return { refs: chargesOf(data), last: data.at(-1)?.id, has_more }
  },
  async disputes(client, page, signal) {
    const { data, has_more } = await client.call(
      pageOf(OF_CHARGE),
      (stripe, options) => stripe.disputes.list(page, options),
      { signal },
    )
    return { refs: chargesOf(data), last: data.at(-1)?.id, has_more }
  },
}

function listed(
  kind: ObjectKind,
  data: readonly z.infer<typeof LISTED>[],
): readonly ChangedObject[] {
  return data.map(({ id, customer: customer_id }) => ({ kind, id, customer_id }))
}

function chargesOf(data: readonly z.infer<typeof OF_CHARGE>[]): readonly ChangedObject[] {
  return data.flatMap(({ charge }) => (charge === null ? [] : [{ kind: 'charge', id: charge }]))
}

const NAMES = Object.keys(SOURCES)

/** One page of one list; the cursor names the list, and where in it the page begins. */
export async function changedPage(
  client: StripeClient,
  since: Instant,
  cursor: string | null,
  signal: AbortSignal,
): Promise<ChangedPage> {
  const [name = '', after] = (cursor ?? 'events').split(' ')
  const read = SOURCES[name]
  if (read === undefined) throw new ProcessorError('rejected', { internal: 'an unknown cursor' })
  const created = { gte: Math.floor(since / SECOND) }
  const start = after === undefined ? {} : { starting_after: after }
  const { refs, last, has_more } = await read(client, { limit: PAGE, created, ...start }, signal)
  const isMore = has_more && last !== undefined
  const next = isMore ? `${name} ${last}` : NAMES[NAMES.indexOf(name) + 1]
  return { refs, cursor: next ?? null }
}
