import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { CYCLES_MUTANTS } from '../hosting/cycles/mutants.ts'
import type { CyclesLine } from '../hosting/cycles/result-line.ts'
import { runHarness } from '../support/harness.ts'
import { KILLED_ON, sized } from '../support/soak.ts'

t.setTimeout(12 * MINUTE)

const HARNESS = 'hosting/cycles'
const RUNS = {
  sqlite: { daemons: 1, cycles: sized(3, 3, 60) },
  postgres: { daemons: 2, cycles: sized(3, 3, 30) },
} as const

for (const db of KILLED_ON) {
  const { daemons, cycles } = RUNS[db]
  await t.test(`published and rolled back under load, ${db} answers nothing wrong`, async (t) => {
    const flags = ['--db', db, '--daemons', `${daemons}`, '--cycles', `${cycles}`, '--pace', '20']
    const { code, line, said } = await runHarness<CyclesLine>(HARNESS, flags)
    const rows = Object.entries(line.invariants)
    t.same(
      rows.filter(([, { violated }]) => violated > 0),
      [],
      said,
    )
    t.same(
      rows.filter(([, { checked }]) => checked === 0),
      [],
      'every invariant was looked at',
    )
    t.equal(code, 0, said)
    t.equal(line.cycles, cycles)
    t.ok(line.overlapping > cycles, `${line.overlapping} answers while something changed`)
    t.comment(`seed ${line.seed}, ${line.answers.all} answers in ${line.seconds} s`)
  })
}

/** The others are run by hand, and the page on reliability names all of them. */
const FOUND = sized(
  [],
  ['mixes-two-releases'],
  ['leads-to-the-old', 'echoes-every-tag', 'forgets-open-tabs', 'mixes-two-releases'],
)

for (const { name, breaks } of CYCLES_MUTANTS.filter((one) => FOUND.includes(one.name))) {
  await t.test(`a daemon that ${name.replaceAll('-', ' ')} is found out`, async (t) => {
    const flags = ['--mutant', name, '--cycles', '40', '--pace', '20']
    const { code, line } = await runHarness<CyclesLine>(HARNESS, flags)
    t.equal(code, 1)
    t.ok(line.invariants[breaks].violated > 0, breaks)
  })
}
