import { startCheckout } from '../../daemon/families/billing/checkout.ts'
import type { ObjectRef } from '../../plugins/billing/contract.ts'
import type { MemoryProcessor } from '../../plugins/billing/memory.ts'
import type { Answers } from './ledger-steps.ts'
import type { ModelPayment, Subscription } from './payments-model.ts'
import type { PaymentsWorld } from './payments-world.ts'
import { CENT, NEVER, answer, anyAccount } from './payments-world.ts'

async function checkOut(
  world: PaymentsWorld,
  kind: 'topup' | 'subscribe',
  account: string,
  amount: number | null,
): Promise<string> {
  const { platform, store, random } = world
  const call = {
    platform,
    principal: { type: 'operator', account_id: account },
    idempotencyKey: random.oneIn(2) ? undefined : `${account} ${world.number++}`,
    requestId: 'request',
    ip: '',
    now: world.now,
    unit: (work: Parameters<typeof store.write>[0]) => platform.store.write(work),
  } as unknown as Parameters<typeof startCheckout>[0]
  const pages = { success_url: 'https://a.example/', cancel_url: 'https://a.example/' }
  return startCheckout(call, { kind, amount, ...pages }).then(
    ({ session_id }) => session_id,
    (cause: unknown) => String((cause as { readonly code?: unknown }).code),
  )
}

export async function buy(world: PaymentsWorld): Promise<Answers> {
  const { random, memory, payments } = world
  const account = anyAccount(world)
  const amount = 1 + random.below(40)
  const session = await checkOut(world, 'topup', account, amount)
  const how = random.pickAny(['paid', 'paid', 'paid', 'later', 'never'] as const) ?? 'paid'
  if (how === 'paid') await memory.till.pay(session)
  if (how === 'later') await memory.till.payLater(session)
  if (how === 'never') await (random.oneIn(2) ? memory.till.expire(session) : undefined)
  const [fact] = await memory.fetchFacts({ kind: 'checkout', id: session }, NEVER)
  if (fact?.kind !== 'checkout') throw new Error('there is a checkout')
  const charge = fact.payment?.charge_id
  payments.addTopup({
    session,
    account,
    amount,
    origin: String(fact.checkout_id),
    status: how === 'never' ? 'open' : how,
    charge,
  })
  return answer(world)
}

/** A payment that took days arrives, or fails. */
export async function endLater(world: PaymentsWorld): Promise<Answers> {
  const { random, memory, payments } = world
  const topup = random.pickAny(payments.topups.filter(({ status }) => status === 'later'))
  if (topup === undefined) return answer(world)
  const isPaid = random.oneIn(2)
  if (isPaid) await memory.till.settle(topup.session)
  else await memory.till.failLater(topup.session)
  topup.status = isPaid ? 'paid' : 'failed'
  return answer(world)
}

export async function subscribe(world: PaymentsWorld): Promise<Answers> {
  const { memory, payments, now } = world
  const account = anyAccount(world)
  const session = await checkOut(world, 'subscribe', account, null)
  const isPaying = payments.planOf(account, now) === 'pro'
  if (isPaying || session === 'already_subscribed') {
    return answer(world, isPaying, session === 'already_subscribed')
  }
  const [open] = await memory.fetchFacts({ kind: 'checkout', id: session }, NEVER)
  // An earlier one is told of again until it is known to be complete.
  if (open?.kind !== 'checkout' || open.status !== 'open') return answer(world)
  await memory.till.pay(session)
  const [fact] = await memory.fetchFacts({ kind: 'checkout', id: session }, NEVER)
  const subscription = fact?.kind === 'checkout' ? (fact.subscription_id ?? '') : ''
  payments.addSubscription(subscription, account, world.truth)
  await noteBills(world)
  return answer(world)
}

/** The model learns the ids of what a step made, and nothing else of it. */
async function noteBills({ memory, payments }: PaymentsWorld): Promise<void> {
  const { refs } = await everything(memory)
  for (const { kind, id } of refs) {
    if (kind !== 'invoice' || payments.bills.some((bill) => bill.id === id)) continue
    const [fact] = await memory.fetchFacts({ kind, id }, NEVER)
    if (fact?.kind !== 'invoice') continue
    payments.addBill({
      id,
      subscription: fact.subscription_id ?? '',
      due: fact.amount_due_micros / CENT,
      isPaid: fact.status === 'paid',
      grants: fact.reason !== 'other',
      charge: fact.payments[0]?.charge_id ?? null,
    })
  }
}

/** The last page of what changed. */
async function everything(memory: MemoryProcessor): Promise<{ readonly refs: ObjectRef[] }> {
  const refs: ObjectRef[] = []
  const since = memory.till.now() - 1
  for (let cursor: string | null = null; ;) {
    const page = await memory.changedSince(since, cursor, NEVER)
    refs.push(...page.refs)
    cursor = page.cursor
    if (cursor === null) return { refs }
  }
}

function anyLive({ random, payments }: PaymentsWorld): Subscription | undefined {
  return random.pickAny(payments.subscriptions.filter(({ now }) => now.status !== 'canceled'))
}

export async function cycle(world: PaymentsWorld): Promise<Answers> {
  const { random, memory, payments } = world
  const one = anyLive(world)
  if (one === undefined) return answer(world)
  const how = random.pickAny(['paid', 'paid', 'unpaid', 'coupon'] as const) ?? 'paid'
  await memory.till.cycle(one.id, how)
  payments.cycle(one, how !== 'unpaid', world.truth)
  await noteBills(world)
  return answer(world)
}

export async function recover(world: PaymentsWorld): Promise<Answers> {
  const { memory, payments } = world
  const one = anyLive(world)
  if (one === undefined) return answer(world)
  await memory.till.recover(one.id)
  one.now = { ...one.now, status: 'active', past_due_since: null }
  for (const bill of payments.bills) {
    if (bill.subscription !== one.id || bill.isPaid) continue
    const [fact] = await memory.fetchFacts({ kind: 'invoice', id: bill.id }, NEVER)
    bill.isPaid = true
    bill.charge = fact?.kind === 'invoice' ? (fact.payments[0]?.charge_id ?? null) : null
  }
  return answer(world)
}

export async function prorate(world: PaymentsWorld): Promise<Answers> {
  const one = anyLive(world)
  if (one !== undefined) await world.memory.till.prorate(one.id)
  await noteBills(world)
  return answer(world)
}

export async function leave(world: PaymentsWorld): Promise<Answers> {
  const { random, memory } = world
  const one = anyLive(world)
  if (one === undefined) return answer(world)
  if (random.oneIn(2)) {
    await memory.cancelSubscription(one.id, one.id)
    const { period_end, cancel_at } = one.now
    one.now = { ...one.now, cancel_at: cancel_at ?? period_end }
  } else {
    await memory.till.end(one.id)
    const cancel_at = one.now.cancel_at ?? world.truth
    one.now = { ...one.now, status: 'canceled', past_due_since: null, cancel_at }
  }
  return answer(world)
}

/** Payments that have arrived. */
function anyPaid({ random, payments }: PaymentsWorld): ModelPayment | undefined {
  return random.pickAny(payments.paid())
}

export async function refundOrDispute(world: PaymentsWorld): Promise<Answers> {
  const { random, memory, payments } = world
  const payment = anyPaid(world)
  if (payment === undefined) return answer(world)
  const { charge, amount } = payment
  const items = payments.items(charge)
  const returned = items
    .filter(({ kind, active }) => kind === 'refund' && active)
    .reduce((sum, one) => sum + one.amount, 0)
  if (random.oneIn(2) && returned < amount) {
    const part = random.oneIn(2) ? amount - returned : 1 + random.below(amount - returned)
    const id = await memory.till.refund(charge, part * CENT)
    items.push({ id, kind: 'refund', amount: part, active: true })
  } else {
    const part = 1 + random.below(amount)
    const id = await memory.till.dispute(charge, part * CENT)
    items.push({ id, kind: 'dispute', amount: part, active: true })
  }
  return answer(world)
}

export async function winOrFail(world: PaymentsWorld): Promise<Answers> {
  const { random, memory, payments } = world
  const all = payments.paid().flatMap(({ charge }) => payments.items(charge))
  const item = random.pickAny(all.filter(({ active }) => active))
  if (item === undefined) return answer(world)
  if (item.kind === 'refund') await memory.till.failRefund(item.id)
  else await memory.till.win(item.id)
  item.active = false
  return answer(world)
}
