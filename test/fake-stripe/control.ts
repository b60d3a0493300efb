import { z } from 'zod'
import * as billing from './billing.ts'
import type { FakeStripe } from './fake.ts'
import type { Reply } from './idempotency.ts'
import * as money from './money.ts'
import { readParams } from './params.ts'
import { Refusal } from './refusal.ts'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: string
}

type Control = (fake: FakeStripe, id: string, given: Record<string, unknown>) => unknown

const COUPON = z.strictObject({ coupon: z.boolean().default(false) })
const AMOUNT = z.strictObject({ amount: z.int().positive().optional() })
const ARRANGEMENT = z.strictObject({
  copies: z.int().positive().optional(),
  order: z.enum(['as_sent', 'reverse', 'random']).optional(),
  seed: z.string().optional(),
  lose: z.int().nonnegative().optional(),
})
const TIME = z.strictObject({ ms: z.int().nonnegative() })
const FAULT = z.strictObject({
  path: z.string().optional(),
  method: z.enum(['GET', 'POST']).optional(),
  times: z.int().positive().optional(),
  kind: z.enum([
    'status',
    'kept',
    'reset',
    'hang',
    'lost',
    'malformed',
    'empty',
    'redirect',
    'endless',
  ]),
  status: z.int().optional(),
})

/** What people, banks and time do, by `<kind>/<verb>` of the path `/fake/<kind>/<id>/<verb>`. */
const CONTROLS: Readonly<Record<string, Control>> = {
  'checkout/pay': ({ checkouts }, id, given) =>
    checkouts.pay(id, readParams(COUPON, given).coupon ? 'coupon' : 'paid'),
  'checkout/decline': ({ checkouts }, id) => checkouts.decline(id),
  'checkout/pay-later': ({ checkouts }, id) => checkouts.payLater(id),
  'checkout/settle': ({ checkouts }, id) => checkouts.settle(id),
  'checkout/fail': ({ checkouts }, id) => checkouts.failLater(id),
  'checkout/expire': ({ checkouts }, id) => checkouts.expire(id),
  'subscriptions/cycle': ({ state }, id, given) =>
    billing.cycle(state, id, readParams(COUPON, given).coupon ? 'coupon' : 'paid'),
  'subscriptions/fail': ({ state }, id) => billing.cycle(state, id, 'unpaid'),
  'subscriptions/recover': ({ state }, id) => billing.recover(state, id),
  'subscriptions/prorate': ({ state }, id) => billing.prorate(state, id),
  'subscriptions/end': ({ state }, id) => billing.end(state, id),
  'charges/refund': ({ state }, id, given) =>
    money.refund(state, id, amountOf(state.get('charges', id), given)),
  'charges/dispute': ({ state }, id, given) =>
    money.dispute(state, id, amountOf(state.get('charges', id), given)),
  'charges/inquire': ({ state }, id, given) =>
    money.dispute(state, id, amountOf(state.get('charges', id), given), true),
  'refunds/fail': ({ state }, id) => money.failRefund(state, id),
  'disputes/win': ({ state }, id) => money.winDispute(state, id),
  'disputes/lose': ({ state }, id) => money.loseDispute(state, id),
  'invoices/void': ({ state }, id) => billing.voidInvoice(state, id),
}

/** What concerns the fake itself, by the rest of the path `/fake/…`. */
const OWN: Readonly<
  Record<string, (fake: FakeStripe, given: Record<string, unknown>) => Promise<unknown>>
> = {
  'events/hold': async ({ outbox }) => outbox.hold(),
  'events/release': async ({ outbox }, given) => {
    await outbox.release(plain(readParams(ARRANGEMENT, given)))
    return { attempts: outbox.attempts }
  },
  events: async ({ state, outbox }) => ({
    data: state.all('events').toReversed(),
    attempts: outbox.attempts,
  }),
  time: async ({ state }, given) => state.pass(readParams(TIME, given).ms),
  faults: async ({ faults }, given) => faults.add(plain(readParams(FAULT, given))),
  requests: async ({ requests }) => ({
    data: requests.map(({ method, path, key, headers }) => ({
      method,
      path,
      key: key ?? null,
      version: headers['stripe-version'] ?? null,
    })),
  }),
}

/** Answers a request to `/fake/…`. */
export async function runControl(fake: FakeStripe, { path, body }: Asked): Promise<Reply> {
  try {
    const given = body === '' ? {} : (JSON.parse(body) as Record<string, unknown>)
    const [, , kind = '', id = '', verb = ''] = path.split('/')
    const own = OWN[path.slice('/fake/'.length)]
    if (own !== undefined) return done(await own(fake, given))
    const control = CONTROLS[`${kind}/${verb}`]
    if (control === undefined)
      return { status: 404, body: { error: 'The fake has no such control.' } }
    return done(control(fake, id, given))
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, body: error.body }
    throw error
  }
}

function done(answer: unknown): Reply {
  return { status: 200, body: { fake: true, answer: structuredClone(answer) ?? null } }
}

function amountOf(charge: { readonly amount: number }, given: Record<string, unknown>): number {
  return readParams(AMOUNT, given).amount ?? charge.amount
}

/** Without what is undefined. */
function plain<T extends object>(given: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof T]: Exclude<T[Name], undefined> }
}
