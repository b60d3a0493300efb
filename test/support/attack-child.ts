/**
 * Attacks in a process of its own, since so many calls take more than one core: it is forked with the
 * seed, the number of its first run, how many runs to go on by, and how many calls to make.
 *
 * @module
 */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { FAMILIES } from '../../daemon/families/index.ts'
import { keysFamily } from '../../daemon/families/keys/family.ts'
import { mountAlone } from './mounted.ts'
import { createResolver } from '../../daemon/http/resolve.ts'
import type { Outcome, Site } from './attack.ts'
import { runAttack } from './attack.ts'
import { createClock } from './clock.ts'
import { askInProcess } from './in-process.ts'
import { createSeededRandom } from './seeded-random.ts'
import { createWorld } from './world.ts'

const START = Date.parse('2030-01-31T12:00:00.000Z')
const OPERATOR_TOKEN = 'operator-token-of-the-tests'
const CALLS_A_RUN = 1000
/** While one world waits for its disk, another works. */
const WORLDS = 3

// Most of what is asked is refused, and the stack trace of a refusal costs more than the refusal.
Error.stackTraceLimit = 0

const [folder = '', seed = '', first = '0', stride = '1', total = '0'] = process.argv.slice(2)
const closings: (() => Promise<void>)[] = []
let calls = 0
let nextRun = Number(first)

async function openSite(): Promise<Site> {
  const clock = createClock(START)
  const { platform } = await createWorld(
    {
      testdir: () => mkdtempSync(join(folder, 'world-')),
      teardown: (handler) => closings.push(handler),
    },
    { clock, families: FAMILIES.filter((family) => family !== keysFamily) },
  )
  const step = mountAlone({
    platform,
    families: FAMILIES,
    resolve: createResolver({ platform, operatorToken: OPERATOR_TOKEN }),
    rateLimits: { reads: 0, writes: 0 },
    onError: () => undefined,
  })
  return { platform, clock, operatorToken: OPERATOR_TOKEN, ask: askInProcess(step) }
}

async function attackOn(site: Site): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  while (calls < Number(total)) {
    const run = nextRun
    nextRun += Number(stride)
    const random = createSeededRandom(`${seed} ${run}`)
    const outcome = await runAttack(site, random, { calls: CALLS_A_RUN, ownerActs: run % 4 > 1 })
    calls += outcome.calls
    outcomes.push({ ...outcome, faults: outcome.faults.map((fault) => `run ${run}: ${fault}`) })
    if (outcome.faults.length > 0) break
  }
  return outcomes
}

const sites = await Promise.all(Array.from({ length: WORLDS }, openSite))
const outcomes = await Promise.all(sites.map(attackOn))
for (const close of closings) await close()
process.send?.(outcomes.flat())
process.disconnect()
