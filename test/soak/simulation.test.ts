import t from 'tap'
import { simulateAuthority } from '../simulation/authority.ts'
import { simulateEngine } from '../simulation/engine.ts'
import { sized } from '../support/soak.ts'

const AUTHORITY_SEEDS = sized(15, 30, 100)
const ENGINE_SEEDS = sized(10, 20, 60)
/** Seeds within which a defect must be found. */
const PATIENCE = 40

async function isFound(simulate: (seed: string) => Promise<readonly string[]>): Promise<boolean> {
  for (let seed = 1; seed <= PATIENCE; seed += 1) {
    if ((await simulate(String(seed))).length > 0) return true
  }
  return false
}

await t.test('no verification goes by an older state than was answered', async (t) => {
  let verifications = 0
  let hits = 0
  let remoteHits = 0
  for (let seed = 1; seed <= AUTHORITY_SEEDS; seed += 1) {
    const run = await simulateAuthority(String(seed))
    verifications += run.verifications
    hits += run.hits
    remoteHits += run.remoteHits
    t.same(run.stale, [], `npm run simulate -- --only authority --seed ${seed}`)
  }
  t.comment(
    `${verifications} verifications, ${hits} of them from what is kept, ${remoteHits} elsewhere`,
  )
  t.ok(remoteHits > verifications / 4, 'caches elsewhere answered too')
  t.ok(hits / verifications > 0.9, 'most of them from what is kept, or nothing was shown')

  const defects = {
    'a lease that ends later here than there': { shortLease: true },
    'an answer that waits for nobody': { answersAtOnce: true },
    'a memory that outlives its lease': { forgetsNothing: true },
    'an answer that does not wait for caches elsewhere': { leavesRemote: true },
    'a cache elsewhere that keeps what a change overtook': { keepsOvertaken: true },
  }
  for (const [name, defect] of Object.entries(defects)) {
    const found = await isFound(async (seed) => (await simulateAuthority(seed, defect)).stale)
    t.ok(found, `${name} would be found`)
  }
})

await t.test('whatever dies, stops or is lost, what was acknowledged arrives', async (t) => {
  let crashes = 0
  for (let seed = 1; seed <= ENGINE_SEEDS; seed += 1) {
    const run = await simulateEngine(String(seed))
    crashes += run.crashes
    t.same(run.violations, [], `npm run simulate -- --only engine --seed ${seed}`)
  }
  t.comment(`${crashes} crashes`)
  t.ok(crashes > ENGINE_SEEDS, 'processes died, or nothing was shown')

  const defects = {
    'an outcome that is recorded under another claim': { settlesLate: true },
    'an answer before the commit': { answersEarly: true },
    'a claim that nobody takes over': { leasesForever: true },
  }
  for (const [name, defect] of Object.entries(defects)) {
    const found = await isFound(async (seed) => (await simulateEngine(seed, defect)).violations)
    t.ok(found, `${name} would be found`)
  }
})
