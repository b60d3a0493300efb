import type {
  FakeCard,
  FakeCharge,
  FakeDispute,
  FakeIntent,
  FakePaymentMethod,
  FakeRefund,
} from './objects.ts'
import { invalid } from './refusal.ts'
import type { FakeState } from './state.ts'

const CARD: FakeCard = {
  brand: 'visa',
  last4: '4242',
  exp_month: 12,
  exp_year: 2039,
  fingerprint: 'fakeFingerprint4242',
}

export function addMethod(state: FakeState, customer: string | null): FakePaymentMethod {
  return state.add('payment_methods', {
    id: state.id('pm'),
    object: 'payment_method',
    created: state.now(),
    customer,
    type: 'card',
    livemode: false,
    card: CARD,
  })
}

/** A payment that has a charge: it succeeds at once, or is on its way. */
export function addPayment(
  state: FakeState,
  given: { customer: string | null; amount: number; currency: string; method: string },
  how: 'succeeded' | 'processing',
): FakeIntent {
  const { customer, amount, currency, method } = given
  const intent = state.add('payment_intents', {
    id: state.id('pi'),
    object: 'payment_intent',
    amount,
    amount_received: 0,
    created: state.now(),
    currency,
    customer,
    latest_charge: null,
    livemode: false,
    metadata: {},
    payment_method: method,
    status: how,
  })
  const charge = state.add('charges', {
    id: state.id('ch'),
    object: 'charge',
    amount,
    amount_captured: 0,
    amount_refunded: 0,
    created: state.now(),
    currency,
    customer,
    disputed: false,
    livemode: false,
    paid: false,
    payment_intent: intent.id,
    payment_method: method,
    refunded: false,
    status: 'pending',
    payment_method_details: { type: 'card', card: CARD },
  })
  intent.latest_charge = charge.id
  if (how === 'succeeded') settlePayment(state, intent)
  return intent
}

/** The money of a payment arrives. */
export function settlePayment(state: FakeState, intent: FakeIntent): void {
  const charge = chargeOf(state, intent)
  intent.status = 'succeeded'
  intent.amount_received = intent.amount
  charge.status = 'succeeded'
  charge.paid = true
  charge.amount_captured = charge.amount
  state.emit('charge.succeeded', charge)
  state.emit('payment_intent.succeeded', intent)
}

/** A payment that was on its way fails. */
export function failPayment(state: FakeState, intent: FakeIntent): void {
  const charge = chargeOf(state, intent)
  charge.status = 'failed'
  intent.status = 'requires_payment_method'
  state.emit('charge.failed', charge)
  state.emit('payment_intent.payment_failed', intent)
}

function chargeOf(state: FakeState, { latest_charge }: FakeIntent): FakeCharge {
  return state.get('charges', latest_charge ?? '')
}

export function refund(state: FakeState, chargeId: string, amount: number): FakeRefund {
  const charge = state.get('charges', chargeId)
  assertAmount(amount)
  if (!charge.paid) throw invalid(`Charge ${chargeId} has not been paid.`)
  const left = charge.amount - charge.amount_refunded
  if (amount > left) throw invalid(`Refund amount is greater than the ${left} left on the charge.`)
  const added = state.add('refunds', {
    id: state.id('re'),
    object: 'refund',
    amount,
    charge: chargeId,
    created: state.now(),
    currency: charge.currency,
    payment_intent: charge.payment_intent,
    status: 'succeeded',
  })
  charge.amount_refunded += amount
  charge.refunded = charge.amount_refunded === charge.amount
  state.emit('refund.created', added)
  state.emit('charge.refunded', charge)
  return added
}

/** The customer's bank sends a refund back. */
export function failRefund(state: FakeState, id: string): FakeRefund {
  const failed = state.get('refunds', id)
  if (failed.status !== 'succeeded') throw invalid(`The refund is ${failed.status}.`)
  failed.status = 'failed'
  const charge = state.get('charges', String(failed.charge))
  charge.amount_refunded -= failed.amount
  charge.refunded = false
  state.emit('refund.failed', failed)
  return failed
}

/** @param isInquiry the bank asks, and withdraws nothing */
export function dispute(
  state: FakeState,
  chargeId: string,
  amount: number,
  isInquiry = false,
): FakeDispute {
  const charge = state.get('charges', chargeId)
  assertAmount(amount)
  const added: FakeDispute = {
    id: state.id('du'),
    object: 'dispute',
    amount,
    charge: chargeId,
    created: state.now(),
    currency: charge.currency,
    livemode: false,
    reason: 'fraudulent',
    status: isInquiry ? 'warning_needs_response' : 'needs_response',
    balance_transactions: [],
  }
  state.add('disputes', added)
  charge.disputed = true
  state.emit('charge.dispute.created', added)
  if (!isInquiry) moveDisputed(state, added, -amount, 'charge.dispute.funds_withdrawn')
  return added
}

export function winDispute(state: FakeState, id: string): FakeDispute {
  const won = endDispute(state, id, 'won')
  moveDisputed(state, won, won.amount, 'charge.dispute.funds_reinstated')
  return won
}

export function loseDispute(state: FakeState, id: string): FakeDispute {
  return endDispute(state, id, 'lost')
}

function endDispute(state: FakeState, id: string, status: 'won' | 'lost'): FakeDispute {
  const ended = state.get('disputes', id)
  if (ended.status !== 'needs_response') throw invalid(`The dispute is ${ended.status}.`)
  ended.status = status
  state.emit('charge.dispute.closed', ended)
  return ended
}

function moveDisputed(state: FakeState, disputed: FakeDispute, amount: number, type: string): void {
  const { currency } = disputed
  const id = state.id('txn')
  disputed.balance_transactions.push({
    id,
    object: 'balance_transaction',
    amount,
    currency,
    type: 'adjustment',
  })
  state.emit(type, disputed)
}

function assertAmount(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount < 1)
    throw invalid('Invalid positive integer', { param: 'amount' })
}
