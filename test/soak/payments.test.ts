import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { Fact, PaymentProcessor } from '../../plugins/billing/contract.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import type { PaymentDefects } from '../simulation/payments.ts'
import { simulatePayments } from '../simulation/payments.ts'
import { startPostgres } from '../support/postgres.ts'
import { chooseSeed } from '../support/seeded-random.ts'
import { sized } from '../support/soak.ts'

/** On PostgreSQL a step takes ten times as long. */
const STEPS = sized(
  { SQLite: 1000, PostgreSQL: 250 },
  { SQLite: 2000, PostgreSQL: 500 },
  { SQLite: 46_000, PostgreSQL: 10_000 },
)
/** Independent of each other, while one waits for the disk. */
const RUNS = sized(1, 1, 2)
/** Steps within which a defect must be found. */
const PATIENCE = 3000

const SEED = chooseSeed()

t.setTimeout(sized(19, 19, 90) * MINUTE)
t.comment(`SEED=${SEED}`)
t.jobs = sized(1, 3)

/** A processor whose facts are read as a mistake would. */
const misread =
  (wrong: (fact: Fact) => Fact) =>
  (processor: PaymentProcessor): PaymentProcessor => ({
    ...processor,
    fetchFacts: async (ref, signal) => (await processor.fetchFacts(ref, signal)).map(wrong),
  })

const DEFECTS: Readonly<Record<string, PaymentDefects>> = {
  'a credit for each event': {
    ledger: (ledger) => ({
      ...ledger,
      credit: (credit) =>
        ledger.credit({ ...credit, origin_id: `${credit.origin_id} ${credit.now}` }),
    }),
  },
  'a clawback for each event': {
    ledger: (ledger) => ({
      ...ledger,
      reconcile: async (charge, now) => {
        await ledger.reconcile({ ...charge, charge_id: `${charge.charge_id} again` }, now)
        return ledger.reconcile(charge, now)
      },
    }),
  },
  'credit for a payment that is on its way': {
    processor: misread((fact) =>
      fact.kind === 'checkout' && fact.payment !== null
        ? {
            ...fact,
            payment: {
              ...fact.payment,
              settled: true,
              amount_micros: Math.max(1, fact.payment.amount_micros),
            },
          }
        : fact,
    ),
  },
  'credit for an invoice that is not paid': {
    processor: misread((fact) => (fact.kind === 'invoice' ? { ...fact, status: 'paid' } : fact)),
  },
  'credit for a proration': {
    processor: misread((fact) => (fact.kind === 'invoice' ? { ...fact, reason: 'cycle' } : fact)),
  },
  'a refund that failed still counts': {
    processor: misread((fact) =>
      fact.kind === 'charge'
        ? { ...fact, refunds: fact.refunds.map((one) => ({ ...one, succeeded: true })) }
        : fact,
    ),
  },
  'a dispute that was won still counts': {
    processor: misread((fact) =>
      fact.kind === 'charge'
        ? { ...fact, disputes: fact.disputes.map((one) => ({ ...one, withdrawn: true })) }
        : fact,
    ),
  },
  'objects are fetched once': {
    processor(processor) {
      const known = new Map<string, Promise<readonly Fact[]>>()
      return {
        ...processor,
        fetchFacts(ref, signal) {
          const key = `${ref.kind} ${ref.id}`
          const facts = known.get(key) ?? processor.fetchFacts(ref, signal)
          known.set(key, facts)
          return facts
        },
      }
    },
  },
  'lost events stay lost': {
    processor: (processor) => ({
      ...processor,
      changedSince: async () => ({ refs: [], cursor: null }),
    }),
  },
  'a past due plan goes on for ever': {
    processor: misread((fact) =>
      fact.kind === 'subscription' && fact.status === 'past_due'
        ? { ...fact, status: 'active', past_due_since: null }
        : fact,
    ),
  },
}

/** @param run of SQLite, each of which finds its share of the defects; 0 for PostgreSQL */
async function simulateOn(t: Test, place: string, run: number, steps: number): Promise<void> {
  const { store, client } = await openPlatformStore(place)
  t.teardown(() => store.close())
  const stepped = { store, client }
  const { difference, calls } = await simulatePayments(stepped, `${SEED} ${run}`, steps)
  t.equal(difference, null, `SEED=${SEED}`)
  t.comment([...calls].map(([name, count]) => `${name} ${count}`).join(', '))
  const planted = Object.entries(DEFECTS).filter((_, at) => at % RUNS === run - 1)
  for (const [name, defects] of planted) {
    const found = await simulatePayments(stepped, name, PATIENCE, defects)
    t.not(found.difference, null, `${name} would be found`)
    t.comment(`${name}: ${found.difference}`)
  }
}

for (let run = 1; run <= RUNS; run += 1) {
  void t.test(`SQLite, run ${run}: every payment is counted once, step by step`, async (t) => {
    await simulateOn(t, join(t.testdir(), 'keyhook.sqlite'), run, STEPS.SQLite)
  })
}

void t.test('PostgreSQL: every payment is counted once, step by step', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  await simulateOn(t, await server.createDatabase(), 0, STEPS.PostgreSQL)
})
