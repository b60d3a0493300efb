/** The client: a process that asks every daemon for every value while it takes authority away. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createLedger } from '../crash/ledger.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import type { Change } from './changer.ts'
import { runChanger } from './changer.ts'
import type { FleetLedger } from './invariants.ts'
import { INVARIANTS } from './invariants.ts'
import type { ProbeCounts } from './prober.ts'
import { startProber } from './prober.ts'

export interface ClientOrders {
  readonly origins: readonly string[]
  readonly operator: string
  readonly seed: string
  readonly changers: number
  readonly pace: number
  readonly journal: string
}

/** What it says: a change that was answered, something that must not be, and at the end all of it. */
export type ClientWord =
  | { readonly change: Change }
  | { readonly violations: FleetLedger['violations'] }
  | { readonly counts: ProbeCounts; readonly rows: FleetLedger['rows'] }

/** Resolves once it is on its way. */
const say = (word: ClientWord): Promise<void> =>
  new Promise((resolve) => {
    process.send?.(word, () => {
      resolve()
    })
  })

/** Of what is wrong the first show enough. */
const SHOWN = 20

function start(orders: ClientOrders): { stop(): Promise<void> } {
  const { origins, operator, seed, changers, pace } = orders
  const journal = createWriteStream(orders.journal)
  const ledger = createLedger(INVARIANTS)
  const prober = startProber(origins, journal, ledger)
  let isStopped = false
  const work = Array.from({ length: changers }, (_, index) =>
    runChanger(
      {
        origins,
        operator,
        prober,
        journal,
        pace,
        name: `c${index}`,
        random: createSeededRandom(`${seed} changer ${index}`),
        done(change) {
          void say({ change })
          // As soon as there is one the run ends.
          const violations = ledger.violations.slice(0, SHOWN)
          if (violations.length > 0) void say({ violations })
        },
      },
      () => isStopped,
    ),
  )
  for (const one of work) one.catch(fail)
  return {
    async stop() {
      isStopped = true
      await Promise.all(work)
      await prober.stop()
      await say({ violations: ledger.violations.slice(0, SHOWN) })
      await say({ counts: prober.counts, rows: ledger.rows })
      journal.end()
      await once(journal, 'finish')
      process.exit(0)
    },
  }
}

/** Never a refusal of the daemon's: a fault of the harness. */
function fail(cause: unknown): void {
  process.stderr.write(`client: ${cause instanceof Error ? cause.stack : String(cause)}\n`)
  process.exit(1)
}

let working: ReturnType<typeof start> | undefined
process.on('message', (word: ClientOrders | 'stop') => {
  if (word === 'stop') void working?.stop().catch(fail)
  else working = start(word)
})
process.once('disconnect', () => process.exit(0))
