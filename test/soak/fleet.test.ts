import t from 'tap'
import type { Test } from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { FleetLine } from '../fleet/result-line.ts'
import { runHarness } from '../support/harness.ts'
import { IS_ALL, sized } from '../support/soak.ts'

t.setTimeout(10 * MINUTE)

/** Changes of authority; times that a daemon is paused for longer than its claims last. */
const CHANGES = sized(5, 8, 60)
const ZOMBIES = sized(1, 2, 3)
const FAULTS = sized(['--faults', 'drop'], [])
/** Short rests and short faults: as many changes in half the time. */
const QUICKLY = ['--pace', '700', '--longest', '2500']

await t.test('of three daemons under faults none goes beyond what was changed', async (t) => {
  const flags = [
    '--changes',
    `${CHANGES}`,
    '--repeats',
    '1',
    '--zombies',
    `${ZOMBIES}`,
    ...FAULTS,
    ...QUICKLY,
  ]
  const { code, line, said } = await runHarness<FleetLine>('fleet', flags)
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
  t.ok(line.changes.all >= CHANGES, `${line.changes.all} changes`)
  t.equal(line.zombies.cycles, ZOMBIES)
  t.ok(line.verifications.cache > line.verifications.store, 'most were verified from memory')
  t.ok(line.zombies.offered > 0, 'a paused daemon had late outcomes to offer')
  t.comment(`seed ${line.seed}, ${line.probes.all} probes in ${line.seconds} s`)
})

async function requireFound(t: Test): Promise<void> {
  const flags = ['--mutant', 'waits-for-nobody', '--changes', '60', '--faults', 'hold', ...QUICKLY]
  const { code, line } = await runHarness<FleetLine>('fleet', flags)
  t.equal(code, 1)
  t.ok(line.invariants['authority.held'].violated > 0)
}

if (IS_ALL) {
  await t.test('a daemon that waits for nobody before it answers is found out', requireFound)
}
