import type { Till } from '../../plugins/billing/conformance.ts'
import type { Arrangement } from '../../plugins/billing/memory/arrange.ts'
import type { Micros } from '../../plugins/billing/contract.ts'
import * as billing from './billing.ts'
import type { FakeStripe } from './fake.ts'
import * as money from './money.ts'

export interface FakeTill extends Till {
  take(how?: Arrangement): ReturnType<Till['take']>
}

/** The till of the conformance suite over the fake, whose currency has two decimals. */
export function tillOf(fake: FakeStripe): FakeTill {
  const { state, checkouts, outbox, faults } = fake
  return {
    pay: async (id) => void checkouts.pay(id),
    decline: async (id) => void checkouts.decline(id),
    payLater: async (id) => void checkouts.payLater(id),
    settle: async (id) => void checkouts.settle(id),
    failLater: async (id) => void checkouts.failLater(id),
    expire: async (id) => void checkouts.expire(id),
    cycle: async (id, how) => billing.cycle(state, id, how).id,
    recover: async (id) => void billing.recover(state, id),
    prorate: async (id) => billing.prorate(state, id).id,
    end: async (id) => void billing.end(state, id),
    refund: async (id, micros) => money.refund(state, id, minorOf(micros)).id,
    failRefund: async (id) => void money.failRefund(state, id),
    dispute: async (id, micros) => money.dispute(state, id, minorOf(micros)).id,
    inquire: async (id) => money.dispute(state, id, state.get('charges', id).amount, true).id,
    win: async (id) => void money.winDispute(state, id),
    take: async (how) => outbox.take(how),
    sign: (body, at) => outbox.sign(body, at),
    forge: (body, at) => outbox.sign(body, at, 'whsec_anotherSecret'),
    stray() {
      const event = {
        id: state.id('evt'),
        object: 'event',
        created: state.now(),
        data: { object: { id: 'po_fake_1', object: 'payout' } },
        type: 'payout.paid',
      }
      return outbox.sign(Buffer.from(JSON.stringify(event)), state.now() * 1000)
    },
    count: async () => ({
      customers: state.all('customers').length,
      checkouts: state.all('sessions').length,
    }),
    pass: async (ms) => state.pass(ms),
    hang() {
      faults.add({ kind: 'hang' })
      return faults.next()
    },
  }
}

const CENT: Micros = 10_000

function minorOf(micros: Micros): number {
  return micros / CENT
}
