/**
 * `npm run simulate -- [--seed S] [--runs N] [--only authority|engine]`: runs of one seed each, from S on.
 *
 * Prints what was found and, for each run that failed, the command that repeats it.
 */
import { parseArgs } from 'node:util'
import { simulateAuthority } from './authority.ts'
import { simulateEngine } from './engine.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
})
const first = Number(values.seed)
const runs = Number(values.runs)
if (!Number.isSafeInteger(first) || !Number.isSafeInteger(runs) || runs < 1) {
  throw new TypeError('--seed and --runs are whole numbers')
}

/** What each simulation counts, and what it found wrong. */
const SIMULATIONS = {
  async authority(seed: string) {
    const { changes, verifications, hits, remoteHits, stale } = await simulateAuthority(seed)
    return { counts: { changes, verifications, hits, remoteHits }, wrong: stale }
  },
  async engine(seed: string) {
    const { events, arrivals, crashes, twice, violations } = await simulateEngine(seed)
    return { counts: { events, arrivals, crashes, twice }, wrong: violations }
  },
} as const

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

let failures = 0
for (const [name, simulate] of Object.entries(SIMULATIONS)) {
  if (values.only !== undefined && values.only !== name) continue
  const sums = new Map<string, number>()
  for (let seed = first; seed < first + runs; seed += 1) {
    const { counts, wrong } = await simulate(String(seed))
    for (const [what, count] of Object.entries(counts)) {
      sums.set(what, count + (sums.get(what) ?? 0))
    }
    if (wrong.length === 0) continue
    failures += 1
    print(`${name} ${seed}: ${wrong.length} wrong, such as ${wrong[0] ?? ''}`)
    print(`  npm run simulate -- --only ${name} --seed ${seed}`)
  }
  const last = first + runs - 1
  print(JSON.stringify({ simulation: name, seeds: [first, last], ...Object.fromEntries(sums) }))
}
process.exitCode = failures === 0 ? 0 : 1
