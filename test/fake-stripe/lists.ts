import type { z } from 'zod'
import type { FakeList, FakeObjects, Resource } from './objects.ts'
import type { LISTS, PageQuery } from './params.ts'
import type { FakeState } from './state.ts'

export type Listed = keyof typeof LISTS
type Query<Name extends Listed> = z.infer<(typeof LISTS)[Name]>

/** Which objects a query asks for. */
const FILTERS: {
  readonly [Name in Listed]: (one: FakeObjects[Name], query: Query<Name>) => boolean
} = {
  customers: (one, { email }) => isAskedFor(email, one.email),
  payment_methods: (one, { customer, type }) =>
    isAskedFor(customer, one.customer) && isAskedFor(type, one.type),
  sessions: (one, { customer, status }) =>
    isAskedFor(customer, one.customer) && isAskedFor(status, one.status),
  // Those that have ended are listed only when they are asked for.
  subscriptions: (one, { customer, status }) =>
    isAskedFor(customer, one.customer) &&
    (status === 'all' ||
      (status === undefined ? one.status !== 'canceled' : one.status === status)),
  invoices: (one, { customer, status, subscription }) =>
    isAskedFor(customer, one.customer) &&
    isAskedFor(status, one.status) &&
    isAskedFor(subscription, one.parent?.subscription_details.subscription),
  invoice_payments: (one, { invoice, status }) =>
    isAskedFor(invoice, one.invoice) && isAskedFor(status, one.status),
  refunds: (one, { charge, payment_intent }) =>
    isAskedFor(charge, one.charge) && isAskedFor(payment_intent, one.payment_intent),
  disputes: (one, { charge }) => isAskedFor(charge, one.charge),
  events: (one, { type, types }) =>
    isAskedFor(type, one.type) && (types === undefined || types.includes(one.type)),
}

function isAskedFor(asked: string | undefined, value: unknown): boolean {
  return asked === undefined || asked === value
}

/** Seconds that events are listed for: 30 days. */
const EVENTS_KEPT = 30 * 24 * 60 * 60

/** One page of a list, newest first. */
export function listOf<Name extends Listed>(
  state: FakeState,
  name: Name,
  query: Query<Name> & PageQuery,
  { url, most }: { readonly url: string; readonly most: number },
): FakeList<FakeObjects[Name]> {
  const { limit = 10, starting_after, created } = query
  if (starting_after !== undefined) state.get(name, starting_after, 'starting_after')
  const all = state.all<Resource & Name>(name)
  const rest = all.slice(all.findIndex((one) => one.id === starting_after) + 1)
  const oldest = name === 'events' ? state.now() - EVENTS_KEPT : 0
  const matching = rest.filter(
    (one) =>
      FILTERS[name](one, query) && isCreated(one, created) && isCreated(one, { gte: oldest }),
  )
  const data = matching.slice(0, Math.min(limit, most))
  return { object: 'list', url, has_more: data.length < matching.length, data }
}

function isCreated(one: { readonly created?: number }, range: PageQuery['created'] = {}): boolean {
  const at = one.created ?? 0
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range
  return at > gt && at >= gte && at < lt && at <= lte
}
