import type { z } from 'zod'
import { cancelAtPeriodEnd } from './billing.ts'
import type { Checkouts } from './checkout.ts'
import { expanded } from './expand.ts'
import { type Listed, listOf } from './lists.ts'
import { refund } from './money.ts'
import { FAKE_ACCOUNT } from './names.ts'
import type { Resource } from './objects.ts'
import * as params from './params.ts'
import { invalid } from './refusal.ts'
import { createSession } from './sessions.ts'
import type { FakeState } from './state.ts'

export interface Api {
  readonly state: FakeState
  readonly checkouts: Checkouts
  /** Origin of the fake's pages. */
  readonly origin: () => string
  /** Most elements of a page, whatever is asked for. */
  readonly most: () => number
}

export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly given: Record<string, unknown>
}

type Run = (api: Api, given: Record<string, unknown>, id: string) => object

interface Route {
  readonly method: 'GET' | 'POST'
  /** `*` stands for an id. */
  readonly path: string
  readonly run: Run
}

function post<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  run: (api: Api, params: z.infer<Schema>, id: string) => object,
): Route {
  const read: Run = (api, given, id) => run(api, params.readParams(schema, given), id)
  return { method: 'POST', path, run: read }
}

function retrieve(path: string, name: Resource): Route {
  return {
    method: 'GET',
    path: `${path}/*`,
    run({ state }, given, id) {
      const { expand } = params.readParams(params.RETRIEVE, given)
      return expanded(state, state.get(name, id), expand)
    },
  }
}

function list(path: string, name: Listed): Route {
  return {
    method: 'GET',
    path,
    run({ state, most }, given) {
      const query = params.readParams(params.LISTS[name], given)
      return listOf(state, name, query, { url: path, most: most() })
    },
  }
}

const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/v1/account', run: () => ({ id: FAKE_ACCOUNT, object: 'account' }) },
  list('/v1/customers', 'customers'),
  retrieve('/v1/customers', 'customers'),
  post('/v1/customers', params.NEW_CUSTOMER, ({ state }, { email = null, metadata = {} }) => {
    const customer = state.add('customers', {
      id: state.id('cus'),
      object: 'customer',
      created: state.now(),
      email,
      livemode: false,
      metadata,
      invoice_settings: { default_payment_method: null },
    })
    state.emit('customer.created', customer)
    return customer
  }),
  post('/v1/customers/*', params.CUSTOMER_CHANGES, ({ state }, changes, id) => {
    const customer = state.get('customers', id)
    const method = changes.invoice_settings?.default_payment_method
    if (method !== undefined) {
      assertAttached(state, method, id, 'invoice_settings[default_payment_method]')
      customer.invoice_settings.default_payment_method = method
    }
    customer.email = changes.email ?? customer.email
    Object.assign(customer.metadata, changes.metadata)
    state.emit('customer.updated', customer)
    return customer
  }),

  list('/v1/payment_methods', 'payment_methods'),
  retrieve('/v1/payment_methods', 'payment_methods'),
  retrieve('/v1/payment_intents', 'payment_intents'),
  retrieve('/v1/setup_intents', 'setup_intents'),

  list('/v1/checkout/sessions', 'sessions'),
  retrieve('/v1/checkout/sessions', 'sessions'),
  post('/v1/checkout/sessions', params.NEW_SESSION, ({ state, checkouts }, given) =>
    createSession(state, checkouts, given),
  ),
  post('/v1/checkout/sessions/*/expire', params.NOTHING, ({ checkouts }, _, id) =>
    checkouts.expire(id),
  ),

  retrieve('/v1/charges', 'charges'),
  list('/v1/refunds', 'refunds'),
  retrieve('/v1/refunds', 'refunds'),
  post('/v1/refunds', params.NEW_REFUND, ({ state }, { charge, amount }) => {
    const whole = state.get('charges', charge, 'charge').amount
    return refund(state, charge, amount ?? whole)
  }),
  list('/v1/disputes', 'disputes'),
  retrieve('/v1/disputes', 'disputes'),

  list('/v1/subscriptions', 'subscriptions'),
  retrieve('/v1/subscriptions', 'subscriptions'),
  post('/v1/subscriptions/*', params.SUBSCRIPTION_CHANGES, ({ state }, changes, id) => {
    const subscription = state.get('subscriptions', id)
    const { cancel_at_period_end, default_payment_method: method } = changes
    if (method !== undefined) {
      assertAttached(state, method, subscription.customer, 'default_payment_method')
      subscription.default_payment_method = method
    }
    return cancelAtPeriodEnd(state, id, cancel_at_period_end ?? subscription.cancel_at_period_end)
  }),

  list('/v1/invoices', 'invoices'),
  retrieve('/v1/invoices', 'invoices'),
  list('/v1/invoice_payments', 'invoice_payments'),
  retrieve('/v1/prices', 'prices'),

  post('/v1/billing_portal/sessions', params.NEW_PORTAL, (api, { customer, return_url }) => {
    api.state.get('customers', customer, 'customer')
    const id = api.state.id('bps')
    const url = `${api.origin()}/p/session/${customer}`
    return { id, object: 'billing_portal.session', customer, livemode: false, return_url, url }
  }),

  list('/v1/events', 'events'),
  retrieve('/v1/events', 'events'),
]

function assertAttached(state: FakeState, method: string, customer: string, param: string): void {
  if (state.get('payment_methods', method, param).customer === customer) return
  throw invalid(`The customer does not have the payment method ${method}.`, { param })
}

/** What a request asks for; undefined when there is no such path. */
export function routeOf({
  method,
  path,
}: Pick<ApiRequest, 'method' | 'path'>): { readonly run: Run; readonly id: string } | undefined {
  const parts = path.split('/')
  for (const route of ROUTES) {
    const form = route.path.split('/')
    if (route.method !== method || form.length !== parts.length) continue
    const at = form.indexOf('*')
    if (form.every((part, index) => index === at || part === parts[index])) {
      return { run: route.run, id: decodeURIComponent(parts[at] ?? '') }
    }
  }
  return undefined
}
