import { join } from 'node:path'
import type { DatabaseName } from '../../crash/database.ts'
import { openJournal } from '../../crash/journal.ts'
import { createLedger } from '../../crash/ledger.ts'
import { rest, steady } from '../../fleet/steady.ts'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { checkAfter } from './after.ts'
import type { Deed } from './driver.ts'
import { createDriver } from './driver.ts'
import type { CyclesLedger } from './invariants.ts'
import { INVARIANTS } from './invariants.ts'
import type { Judge } from './judge.ts'
import { createJudge } from './judge.ts'
import { lag } from './lags.ts'
import { openPlace } from './place.ts'
import { createTimeline } from './timeline.ts'
import { visit } from './visitor.ts'

export interface RunOptions {
  readonly folder: string
  readonly database: DatabaseName
  readonly daemons: number
  readonly cycles: number
  readonly visitors: number
  readonly pace: number
  /** The longest rest of a visitor. */
  readonly rest: number
  /** The longest that a daemon's path to its database is held. */
  readonly lag: number
  readonly seed: string
  readonly mutant: string | undefined
  readonly progress: (line: string) => void
}

export interface RunResult {
  readonly cycles: number
  readonly deeds: readonly Deed[]
  readonly judge: Judge
  readonly ledger: CyclesLedger
  /** Of the load, without starting and ending. */
  readonly seconds: number
}

const TOLD_EVERY = 50
/** Answers of the last state come before it is over. */
const SETTLES = 200

/** Changes an app over and over while visitors load it, until it has been often enough or something is wrong. */
export async function runCycles(options: RunOptions): Promise<RunResult> {
  const { folder, database, daemons, mutant, seed, progress } = options
  const ledger = createLedger(INVARIANTS)
  const timeline = createTimeline()
  const judge = createJudge(timeline, ledger)
  const journal = openJournal(join(folder, 'driver.jsonl'))
  const place = await openPlace({ folder, database, daemons, mutant })
  try {
    const { apis, addresses, app, proxies } = place
    const random = createSeededRandom(`${seed} driver`)
    const driver = createDriver({
      apis,
      app,
      timeline,
      ledger,
      random,
      journal,
      pace: options.pace,
    })
    await driver.begin()
    const began = steady()
    let isStopped = false
    const isOver = (): boolean => isStopped
    const visitors = Array.from({ length: options.visitors }, (_, index) =>
      visit({
        addresses,
        judge,
        random: createSeededRandom(`${seed} visitor ${index}`),
        rest: options.rest,
        isStopped: isOver,
      }),
    )
    const lagging = lag(proxies, {
      random: createSeededRandom(`${seed} lags`),
      longest: options.lag,
      isStopped: isOver,
    })
    let cycles = 0
    while (cycles < options.cycles && ledger.violations.length === 0) {
      await driver.cycle()
      cycles++
      if (cycles % TOLD_EVERY === 0) {
        const answers = judge.took.length
        progress(`${cycles} cycles, ${answers} answers, ${ledger.violations.length} violations`)
      }
    }
    await rest(SETTLES)
    isStopped = true
    await Promise.all([...visitors, lagging])
    const seconds = (steady() - began) / 1000
    const deaths = place.deaths()
    ledger.check('daemon.lives', deaths.length === 0, () => deaths.join('\n'))
    if (deaths.length === 0) await checkAfter(place, timeline, ledger)
    await journal.synced()
    return { cycles, deeds: driver.deeds, judge, ledger, seconds }
  } finally {
    await place.close()
  }
}
