import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { HOUR, MINUTE } from '../../lib/time.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import type { LedgerDefect } from '../simulation/ledger-world.ts'
import { simulateLedger } from '../simulation/ledger.ts'
import { startPostgres } from '../support/postgres.ts'
import { chooseSeed } from '../support/seeded-random.ts'
import { sized } from '../support/soak.ts'

const STEPS = sized(
  { SQLite: 1000, PostgreSQL: 1000 },
  { SQLite: 1500, PostgreSQL: 1000 },
  { SQLite: 60_000, PostgreSQL: 40_000 },
)
/** Steps within which a defect must be found. */
const PATIENCE = 3000

t.setTimeout(sized(18, 18, 120) * MINUTE)

const DEFECTS: Readonly<Record<string, LedgerDefect>> = {
  'credit that expires with the sweep': (ledger) => ({
    ...ledger,
    hold: (holds, budgets) =>
      ledger.hold(
        holds.map((one) => ({ ...one, now: one.now - 12 * HOUR })),
        budgets,
      ),
  }),
  'a clawback for each event': (ledger) => ({
    ...ledger,
    reconcile: async (charge, now) => {
      await ledger.reconcile({ ...charge, charge_id: `${charge.charge_id} again` }, now)
      return ledger.reconcile(charge, now)
    },
  }),
  'a credit for each event': (ledger) => ({
    ...ledger,
    credit: (credit) =>
      ledger.credit({ ...credit, origin_id: `${credit.origin_id} ${credit.now}` }),
  }),
  'holds that draw on no budget': (ledger) => ({
    ...ledger,
    hold: (holds) => ledger.hold(holds, []),
  }),
  'a capture of all that was held': (ledger) => ({
    ...ledger,
    capture: (work, chargeOf, now) =>
      ledger.capture(work, (hold) => ({ ...chargeOf(hold), amount: hold.amount }), now),
  }),
}

async function simulateOn(t: Test, place: string, steps: number): Promise<void> {
  const { store, client } = await openPlatformStore(place)
  t.teardown(() => store.close())
  const seed = chooseSeed()
  t.comment(`SEED=${seed}`)
  const { difference, calls } = await simulateLedger({ store, client }, seed, steps)
  t.equal(difference, null, `SEED=${seed}`)
  t.comment([...calls].map(([name, count]) => `${name} ${count}`).join(', '))
  for (const [name, defect] of Object.entries(DEFECTS)) {
    const run = await simulateLedger({ store, client }, name, PATIENCE, defect)
    t.not(run.difference, null, `${name} would be found`)
    t.comment(`${name}: ${run.difference}`)
  }
}

await t.test('SQLite: the ledger is as its model by brute force, step by step', async (t) => {
  await simulateOn(t, join(t.testdir(), 'keyhook.sqlite'), STEPS.SQLite)
})

await t.test('PostgreSQL: the ledger is as its model by brute force, step by step', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  await simulateOn(t, await server.createDatabase(), STEPS.PostgreSQL)
})
