/**
 * `npm run fleet -- --changes N --repeats N --zombies N [--daemons 3] [--seed S] [--json] [--results FILE]`: takes
 * authority away through daemons that share one database, each at fault by turns, and pauses daemons for
 * longer than their claims last.
 *
 * Also: --pace MS the longest rest between two changes of one changer, --longest MS the longest fault,
 * --faults NAME,NAME only these, --mutant NAME for daemons that err on purpose.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLedger } from '../crash/ledger.ts'
import { MUTANTS } from '../crash/mutants.ts'
import { chooseSeed, createSeededRandom } from '../support/seeded-random.ts'
import type { FaultName } from './faults.ts'
import { FAULTS } from './faults.ts'
import { startFleet } from './fleet.ts'
import { INVARIANTS, isSound } from './invariants.ts'
import { printLine, toLine } from './result-line.ts'
import { runRepeats } from './repeats.ts'
import { runAuthority } from './run.ts'
import { steady } from './steady.ts'
import { runZombies } from './zombies.ts'

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '200' },
    repeats: { type: 'string', default: '1' },
    zombies: { type: 'string', default: '10' },
    daemons: { type: 'string', default: '3' },
    pace: { type: 'string', default: '1500' },
    longest: { type: 'string', default: '5000' },
    faults: { type: 'string' },
    seed: { type: 'string', default: chooseSeed() },
    mutant: { type: 'string' },
    results: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

const { seed, mutant } = values
if (mutant !== undefined && !MUTANTS.some(({ name }) => name === mutant)) {
  throw new Error(`mutants: ${MUTANTS.map(({ name }) => name).join(', ')}`)
}
const names = values.faults?.split(',')
const faults = names?.filter((name): name is FaultName => name in FAULTS)
if (names !== undefined && faults?.length !== names.length) {
  throw new Error(`faults: ${Object.keys(FAULTS).join(', ')}`)
}

const say = (text: string): void => {
  process.stderr.write(`${text}\n`)
}
say(`seed ${seed}`)
const began = steady()
const random = createSeededRandom(seed)
const folder = await mkdtemp(join(tmpdir(), 'keyhook-fleet-'))
const daemons = Number(values.daemons)
const ledger = createLedger(INVARIANTS)
const fleet = await startFleet(folder, { daemons, mutant })
let line
try {
  const shared = { fleet, ledger, folder, random, progress: say }
  const changes = Number(values.changes)
  const authority = await runAuthority({
    ...shared,
    changes,
    seed,
    faults,
    pace: Number(values.pace),
    longest: Number(values.longest),
  })
  const [rounds, cycles] = [Number(values.repeats), Number(values.zombies)]
  const { repeats } = await runRepeats({ ...shared, rounds: isSound(ledger) ? rounds : 0 })
  const zombies = await runZombies({ ...shared, cycles: isSound(ledger) ? cycles : 0 })
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' })
  const seconds = Math.round((steady() - began) / 1000)
  line = toLine(authority, { ...zombies, repeats }, ledger.rows, {
    seed,
    daemons,
    seconds,
    commit: commit.trim(),
  })
  for (const { name, evidence } of [...authority.violations, ...ledger.violations].slice(0, 5)) {
    say(`violated: ${name}\n  ${evidence}`)
  }
} finally {
  await fleet.close()
}

if (values.results !== undefined) appendFileSync(values.results, `${JSON.stringify(line)}\n`)
process.stdout.write(values.json ? `${JSON.stringify(line)}\n` : printLine(line))
// What a mutant leaves behind is evidence of nothing.
if (isSound(ledger) || mutant !== undefined) await rm(folder, { recursive: true, force: true })
else say(`seed ${seed}, everything is kept in ${folder}`)
process.exitCode = isSound(ledger) ? 0 : 1
