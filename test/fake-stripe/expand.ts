import type { FakeObjects, Resource } from './objects.ts'
import { invalid } from './refusal.ts'
import type { FakeState } from './state.ts'

/** Fields that can be expanded: the object that an id stands for. */
const LINKS: Readonly<Record<string, Resource>> = {
  customer: 'customers',
  payment_intent: 'payment_intents',
  setup_intent: 'setup_intents',
  latest_charge: 'charges',
  latest_invoice: 'invoices',
  subscription: 'subscriptions',
  payment_method: 'payment_methods',
  default_payment_method: 'payment_methods',
  charge: 'charges',
}

type Fields = Readonly<Record<string, unknown>>

/**
 * A copy of an object with what `expand` asks for, such as `payment_intent.latest_charge`.
 *
 * @throws Refusal for what cannot be expanded
 */
export function expanded<Name extends Resource>(
  state: FakeState,
  object: FakeObjects[Name],
  paths: readonly string[] = [],
): object {
  let whole: Fields = { ...object }
  for (const path of paths) whole = expandOne(state, whole, path.split('.'), path)
  return whole
}

function expandOne(
  state: FakeState,
  object: Fields,
  [field = '', ...rest]: readonly string[],
  path: string,
): Fields {
  if (field === 'payments' && object['object'] === 'invoice') {
    return { ...object, payments: paymentsOf(state, String(object['id'])) }
  }
  const resource = LINKS[field]
  if (resource === undefined || !(field in object)) {
    throw invalid(`This property cannot be expanded (${path}).`, { param: 'expand' })
  }
  const value = object[field]
  if (value === null) return object
  const inner = typeof value === 'string' ? { ...state.get(resource, value) } : (value as Fields)
  const whole = rest.length === 0 ? inner : expandOne(state, inner, rest, path)
  return { ...object, [field]: whole }
}

function paymentsOf(state: FakeState, invoice: string): object {
  const data = state.all('invoice_payments').filter((one) => one.invoice === invoice)
  return { object: 'list', url: `/v1/invoice_payments?invoice=${invoice}`, has_more: false, data }
}
