import assert from 'node:assert/strict'
import { DAY } from '../../lib/time.ts'
import type {
  CheckoutRecord,
  InvoiceRecord,
  ProcessorEvent,
  SubscriptionRecord,
} from '../../plugins/platform/contract/payments.ts'
import { placeOfInvoice } from '../../plugins/platform/contract/payments.ts'
import { ACCOUNT, BORN, sampleAccount } from '../../plugins/store/conformance/samples.ts'
import type { PlatformCase } from './harness.ts'
import { openRacers } from './harness.ts'

const OPERATOR = { type: 'operator', id: null } as const
const GRACE = 7 * DAY

function sampleCheckout(id: string, changes: Partial<CheckoutRecord> = {}): CheckoutRecord {
  return {
    id,
    account_id: ACCOUNT,
    kind: 'topup',
    amount: 10_000_000,
    processor: 'stripe',
    request_key: null,
    session_id: null,
    url: null,
    success_url: 'https://example.com/done',
    cancel_url: 'https://example.com/done',
    status: 'created',
    settled_at: null,
    created_by: OPERATOR,
    created_at: BORN,
    expires_at: BORN + 100,
    ...changes,
  }
}

function sampleSubscription(
  id: string,
  changes: Partial<SubscriptionRecord> = {},
): SubscriptionRecord {
  return {
    processor: 'stripe',
    id,
    account_id: ACCOUNT,
    is_plan: true,
    status: 'active',
    past_due_since: null,
    cancel_at: null,
    current_period_end: BORN + 30 * DAY,
    created_at: BORN,
    updated_at: BORN,
    ...changes,
  }
}

function sampleInvoice(id: string, changes: Partial<InvoiceRecord> = {}): InvoiceRecord {
  return {
    processor: 'stripe',
    id,
    account_id: ACCOUNT,
    number: 'KH-1',
    status: 'open',
    amount_due: 25_000_000,
    amount_paid: 0,
    currency: 'USD',
    period_start: BORN,
    period_end: BORN + 30 * DAY,
    hosted_url: null,
    pdf_url: null,
    charge_id: null,
    credit_transaction: null,
    created_at: BORN,
    ...changes,
  }
}

function sampleEvent(id: string, changes: Partial<ProcessorEvent> = {}): ProcessorEvent {
  return {
    id,
    processor: 'stripe',
    event_id: 'evt_1',
    type: 'invoice.paid',
    ref_kind: 'invoice',
    ref_id: 'in_1',
    source: 'intake',
    status: 'pending',
    error: null,
    received_at: BORN,
    done_at: null,
    ...changes,
  }
}

const SESSION = { session_id: 'cs_1', url: 'https://pay.example/cs_1', expires_at: BORN + 50 }

const checkoutCases: readonly PlatformCase[] = [
  {
    name: 'payments: of concurrent callers the first customer of an account stays',
    async run(harness) {
      const racers = await openRacers(harness)
      const kept = await Promise.all(
        racers.map((store, at) => {
          const customer_id = `cus_${at}`
          const customer = { account_id: ACCOUNT, processor: 'stripe', created_at: BORN }
          return store.write((tx) => tx.payments.keepCustomer({ ...customer, customer_id }))
        }),
      )
      const [store] = racers
      const customer_id = kept[0]?.customer_id ?? ''
      assert.deepEqual(
        kept.map((one) => one.customer_id),
        [customer_id, customer_id],
      )
      assert.deepEqual(await store.payments.customerOf('stripe', customer_id), kept[0])
      assert.equal(await store.payments.customerOf('paddle', customer_id), undefined)
      assert.equal(await store.payments.customer('acc_9', 'stripe'), undefined)
    },
  },
  {
    name: 'payments: one request begins one checkout, until that has expired',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      const begun = await Promise.all(
        racers.map((one, at) =>
          one.write((tx) =>
            tx.payments.beginCheckout(sampleCheckout(`chk_${at}`, { request_key: 'key' })),
          ),
        ),
      )
      assert.equal(new Set(begun.map(({ id }) => id)).size, 1)
      const [first] = begun
      const later = sampleCheckout('chk_3', { request_key: 'key', created_at: BORN + 100 })
      assert.deepEqual(await store.write((tx) => tx.payments.beginCheckout(later)), later)
      assert.equal((await store.payments.checkout(first?.id ?? ''))?.request_key, null)
      const others = ['chk_4', 'chk_5'].map((id) => sampleCheckout(id))
      for (const other of others) {
        const same = await store.write((tx) => tx.payments.beginCheckout(other))
        assert.deepEqual(same, other, 'requests without a key are not compared')
      }
    },
  },
  {
    name: 'payments: a checkout is opened once, and one that is complete stays so',
    async run({ open }) {
      const store = await open()
      await store.write((tx) => tx.payments.beginCheckout(sampleCheckout('chk_1')))
      const openOnce = () => store.write((tx) => tx.payments.openCheckout('chk_1', SESSION))
      assert.equal(await openOnce(), true)
      assert.equal(await openOnce(), false)
      const checkout = await store.payments.checkoutOf('stripe', 'cs_1')
      assert.deepEqual(checkout, sampleCheckout('chk_1', { ...SESSION, status: 'open' }))
      const { openCheckouts } = store.payments
      assert.equal((await openCheckouts(ACCOUNT, 'topup', BORN + 49)).length, 1)
      assert.equal((await openCheckouts(ACCOUNT, 'topup', BORN + 50)).length, 0)
      assert.equal((await openCheckouts(ACCOUNT, 'subscribe', BORN)).length, 0)
      const end = (status: 'complete' | 'expired', at: number | null) =>
        store.write((tx) => tx.payments.endCheckout('chk_1', status, at))
      assert.equal(await end('complete', BORN + 20), true)
      assert.equal(await end('complete', BORN + 30), false)
      assert.equal(await end('expired', null), false)
      const ended = await store.payments.checkout('chk_1')
      assert.deepEqual([ended?.status, ended?.settled_at], ['complete', BORN + 20])
    },
  },
]

const recordCases: readonly PlatformCase[] = [
  {
    name: 'payments: an invoice keeps its account and its place in the list',
    async run({ open }) {
      const store = await open()
      const paid = sampleInvoice('in_1', {
        status: 'paid',
        amount_paid: 25_000_000,
        credit_transaction: 'txn_1',
        charge_id: 'ch_1',
      })
      const other = sampleInvoice('in_2', { created_at: BORN + 1 })
      const foreign = sampleInvoice('in_3', { account_id: 'acc_2' })
      await store.write(async (tx) => {
        for (const one of [sampleInvoice('in_1'), other, foreign]) await tx.payments.putInvoice(one)
        const moved = { ...paid, created_at: BORN + 9, account_id: 'acc_2' }
        await tx.payments.putInvoice(moved)
      })
      assert.deepEqual(await store.payments.invoice(ACCOUNT, 'in_1'), paid)
      assert.equal(await store.payments.invoice('acc_2', 'in_1'), undefined)
      assert.deepEqual(await store.payments.invoiceOf('stripe', 'in_3'), foreign)
      const page = (after: string | null, status: InvoiceRecord['status'] | null = null) =>
        store.payments.invoices({ account_id: ACCOUNT, status, limit: 1, after })
      assert.deepEqual(await page(null), { rows: [other], more: true })
      assert.deepEqual((await page(placeOfInvoice(other))).rows, [paid])
      assert.deepEqual((await page(null, 'paid')).rows, [paid])
    },
  },
  {
    name: 'payments: a charge is added once, and its items are as they were last seen',
    async run({ open }) {
      const store = await open()
      const charge = { processor: 'stripe', id: 'ch_1', account_id: ACCOUNT, created_at: BORN }
      const item = { processor: 'stripe', id: 're_1', charge_id: 'ch_1', kind: 'refund' } as const
      await store.write(async (tx) => {
        await tx.payments.addCharge({ ...charge, credit_id: 'txn_1', paid: 100, total: 100 })
        await tx.payments.addCharge({ ...charge, credit_id: 'txn_2', paid: 200, total: 300 })
        await tx.payments.putChargeItems([{ ...item, amount: 40, active: true }])
        await tx.payments.putChargeItems([{ ...item, amount: 40, active: false }])
      })
      const kept = { ...charge, credit_id: 'txn_1', paid: 100, total: 100 }
      assert.deepEqual(await store.payments.charge('stripe', 'ch_1'), kept)
      const items = await store.payments.chargeItems('stripe', 'ch_1')
      assert.deepEqual(items, [{ ...item, amount: 40, active: false }])
    },
  },
  {
    name: 'payments: an event is taken once for each object; what a sweep finds may repeat',
    async run(harness) {
      const racers = await openRacers(harness)
      const [store] = racers
      const added = await Promise.all(
        racers.map((one, at) => one.write((tx) => tx.payments.addEvent(sampleEvent(`e${at}`)))),
      )
      assert.equal(added.filter(Boolean).length, 1)
      const others = [
        sampleEvent('e2', { ref_id: 'in_2' }),
        sampleEvent('e3', { ref_kind: 'subscription' }),
        sampleEvent('e4', { processor: 'paddle' }),
        sampleEvent('e5', { event_id: null, source: 'sweep' }),
        sampleEvent('e6', { event_id: null, source: 'sweep' }),
      ]
      for (const other of others) {
        assert.equal(await store.write((tx) => tx.payments.addEvent(other)), true, other.id)
      }
      const object = { processor: 'stripe', kind: 'invoice', id: 'in_2' } as const
      assert.equal(await store.payments.isAwaited(object), true)
      const end = { status: 'failed', error: 'unavailable', done_at: BORN + 5 } as const
      await store.write((tx) => tx.payments.endEvent('e2', end))
      assert.equal(await store.payments.isAwaited(object), false)
      assert.deepEqual(await store.payments.event('e2'), { ...others[0], ...end })
      assert.equal(await store.payments.countFailed('stripe'), 1)
      assert.equal(await store.payments.countFailed('paddle'), 0)
      assert.equal(await store.payments.countWaiting('paddle'), 1)
      const later = sampleEvent('e7', { event_id: null, ref_id: 'in_2' })
      await store.write((tx) => tx.payments.addEvent(later))
      assert.equal(await store.payments.countFailed('stripe'), 1, 'it waits again')
      await store.write((tx) => tx.payments.endEvent('e7', { ...end, status: 'done' }))
      assert.equal(await store.payments.countFailed('stripe'), 0)
    },
  },
  {
    name: 'payments: a sweep is noted by its processor',
    async run({ open }) {
      const store = await open()
      assert.equal(await store.payments.sweep('stripe'), undefined)
      for (const swept_at of [BORN, BORN + 1]) {
        const sweep = { processor: 'stripe', swept_at, far_at: BORN }
        await store.write((tx) => tx.payments.putSweep(sweep))
        assert.deepEqual(await store.payments.sweep('stripe'), sweep)
      }
    },
  },
]

const purgeCases: readonly PlatformCase[] = [
  {
    name: 'payments: events that were applied and checkouts that nobody completed expire, the oldest first',
    async run({ open }) {
      const store = await open()
      const left = async (ids: readonly string[], read: (id: string) => Promise<unknown>) => {
        const found = await Promise.all(ids.map(read))
        return ids.filter((_, at) => found[at] !== undefined)
      }
      await store.write(async (tx) => {
        for (const [at, status] of (['done', 'pending', 'ignored', 'failed'] as const).entries()) {
          const event = { event_id: null, status, received_at: BORN + at }
          await tx.payments.addEvent(sampleEvent(`e${at}`, event))
        }
        const statuses = ['created', 'open', 'complete', 'expired', 'failed'] as const
        for (const [at, status] of statuses.entries()) {
          const checkout = { status, expires_at: BORN + at }
          await tx.payments.beginCheckout(sampleCheckout(`c${at}`, checkout))
        }
      })
      const events = () => left(['e0', 'e1', 'e2', 'e3'], (id) => store.payments.event(id))
      assert.equal(await store.purge('processor_events', BORN, 9), 0, 'not at its instant')
      assert.equal(await store.purge('processor_events', BORN + 9, 2), 2)
      assert.deepEqual(await events(), ['e1', 'e3'])
      assert.equal(await store.purge('processor_events', BORN + 9, 9), 1)
      assert.deepEqual(await events(), ['e1'], 'a job works on it')
      const checkouts = () =>
        left(['c0', 'c1', 'c2', 'c3', 'c4'], (id) => store.payments.checkout(id))
      assert.equal(await store.purge('checkouts', BORN, 9), 0, 'not at its instant')
      assert.equal(await store.purge('checkouts', BORN + 4, 2), 2)
      assert.deepEqual(await checkouts(), ['c2', 'c3', 'c4'])
      assert.equal(await store.purge('checkouts', BORN + 4, 9), 1)
      assert.deepEqual(await checkouts(), ['c2', 'c4'])
    },
  },
]

type Ends = readonly [changes: Partial<SubscriptionRecord>, ended: boolean]

const NOW = BORN + 10 * DAY

/** A subscription of an account on Pro, and whether nothing pays for the plan at `NOW`. */
const PLANS: readonly Ends[] = [
  [{}, false],
  [{ is_plan: false }, true],
  [{ status: 'incomplete' }, true],
  [{ status: 'canceled' }, true],
  [{ cancel_at: NOW }, true],
  [{ cancel_at: NOW + 1 }, false],
  [{ status: 'past_due', past_due_since: NOW - GRACE }, true],
  [{ status: 'past_due', past_due_since: NOW - GRACE + 1 }, false],
  [{ status: 'past_due', updated_at: NOW - GRACE }, true],
  [{ status: 'past_due', updated_at: NOW - GRACE + 1 }, false],
  [{ current_period_end: NOW - GRACE }, true],
  [{ current_period_end: NOW - GRACE + 1 }, false],
  [{ current_period_end: null }, false],
]

const planCases: readonly PlatformCase[] = [
  {
    name: 'payments: a plan ends to the instant that nothing pays for it',
    async run({ open }) {
      const store = await open()
      await store.write(async (tx) => {
        for (const [at, [changes]] of PLANS.entries()) {
          const account_id = `acc_${at}`
          await tx.accounts.insert(sampleAccount({ id: account_id, plan: 'pro' }))
          const subscription = sampleSubscription(`sub_${at}`, { account_id, ...changes })
          await tx.payments.putSubscription({ ...subscription, status: 'active' })
          await tx.payments.putSubscription(subscription)
        }
        await tx.accounts.insert(sampleAccount({ id: 'acc_none', plan: 'pro' }))
        await tx.accounts.insert(sampleAccount({ id: 'acc_free', plan: 'free' }))
      })
      const ended = PLANS.flatMap(([, isEnded], at) => (isEnded ? [`acc_${at}`] : []))
      const found = await store.payments.endedPlans(NOW, GRACE, 100)
      assert.deepEqual(found, [...ended, 'acc_none'].toSorted())
      assert.equal((await store.payments.endedPlans(NOW, GRACE, 2)).length, 2)
      assert.equal(await store.payments.countOtherPlans(NOW, GRACE), found.length)
      await store.write((tx) => tx.accounts.setPlan('acc_0', 'free', NOW))
      assert.equal(await store.payments.countOtherPlans(NOW, GRACE), found.length + 1)
      const live = PLANS.filter(([{ status = 'active' }]) => /^(active|past_due)$/.test(status))
      assert.equal(await store.payments.countElsewhere('stripe'), 0)
      assert.equal(await store.payments.countElsewhere('paddle'), live.length)
      assert.equal(await store.payments.countElsewhere(null), live.length)
      const [known] = await store.payments.subscriptions('acc_0')
      assert.deepEqual(known, sampleSubscription('sub_0', { account_id: 'acc_0' }))
    },
  },
]

export const paymentCases: readonly PlatformCase[] = [
  ...checkoutCases,
  ...recordCases,
  ...purgeCases,
  ...planCases,
]
