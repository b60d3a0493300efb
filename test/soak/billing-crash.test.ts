import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { BillingDoing } from '../crash/billing-failpoints.ts'
import { BILLING_FAILPOINTS } from '../crash/billing-failpoints.ts'
import type { WorkFailpoint } from '../crash/work-failpoints.ts'
import { BILLING_PLANS, subscribe } from '../support/billing-plans.ts'
import type { BillingStage } from '../support/billing-stage.ts'
import { setTheBillingStage } from '../support/billing-stage.ts'
import { startPostgres } from '../support/postgres.ts'
import { sized } from '../support/soak.ts'

t.setTimeout(sized(4, 19, 90) * MINUTE)
// Most of the time leases are waited for.
t.jobs = 2

/** Every so many failpoints the daemon is killed in one. */
const STRIDE = sized(24, 24, 1)
/** Milliseconds from a request to a kill that nothing else decides. */
const MOMENTS = sized([], [20], [5, 20, 50, 120, 300])
const AT_MOMENTS = ['topup', 'month', 'edit', 'refund'] as const

const FAILPOINTS = Object.entries<readonly WorkFailpoint[]>(BILLING_FAILPOINTS).flatMap(
  ([doing, failpoints]) => failpoints.map(({ name }) => ({ doing: doing as BillingDoing, name })),
)

/** Kills the daemon at every failpoint and moment; answers how often. */
async function killThrough(t: Test, stage: BillingStage, first: number): Promise<number> {
  const own = await subscribe(stage)
  let kills = 0
  const killIn = async (
    doing: BillingDoing,
    name: string,
    kill: (run: () => Promise<void>) => Promise<void>,
  ): Promise<void> => {
    const plan = await BILLING_PLANS[doing](stage, own)
    try {
      await stage.killIn(plan, kill)
    } catch (cause) {
      throw new Error(`killed at ${name}`, { cause })
    }
    kills += 1
    const wrong = await stage.wrong()
    if (wrong.length > 0) t.same(wrong, [], name)
  }
  const { daemon } = stage
  for (const { doing, name } of FAILPOINTS.filter((_, at) => at % STRIDE === first % STRIDE)) {
    await killIn(doing, name, (run) => daemon.dieAt(name, run))
  }
  for (const moment of MOMENTS) {
    for (const doing of AT_MOMENTS) {
      await killIn(doing, `${moment} ms of ${doing}`, (run) => daemon.killAfter(moment, run()))
    }
  }
  return kills
}

for (const [first, database] of ['sqlite', 'postgres'].entries()) {
  void t.test(`killed in every step of money, it is counted once on ${database}`, async (t) => {
    const folder = t.testdir()
    const data = join(folder, 'data')
    const place: Record<string, string> = {}
    let url = join(data, 'keyhook.db')
    if (database === 'postgres') {
      const server = await startPostgres()
      t.teardown(() => server.stop())
      url = await server.createDatabase()
      place['KEYHOOK_DATABASE_URL'] = url
      place['KEYHOOK_MASTER_KEY'] = `k1:${Buffer.alloc(32, 7).toString('base64')}`
    }
    const stage = await setTheBillingStage(t, folder, url, { ...place, KEYHOOK_DATA_DIR: data })
    const kills = await killThrough(t, stage, first * (STRIDE >> 1))
    t.ok(kills >= sized(5, 8, 150), `${kills} kills`)
    t.same(await stage.wrong(), [])
    const verified = await stage.daemon.ask('GET', '/v1/billing/ledger/verify')
    t.match(verified, { differences_total: 0 })
    await stage.close()
  })
}
