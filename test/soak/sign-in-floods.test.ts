import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { SIGN_IN_CHECKS } from '../adversarial/fairness/sign-in.ts'
import { NETWORK_ROWS } from '../adversarial/rows/fairness/networks.ts'
import { runRows } from '../adversarial/run.ts'
import { IS_SOAK } from '../support/soak.ts'

t.setTimeout(5 * MINUTE)

/** Rows that sign in fifty times here, and ten times with the other rows of their section. */
const FLOODS = ['F09', 'F10']

const rows = NETWORK_ROWS.filter(({ id }) => FLOODS.includes(id))
t.equal(rows.length, FLOODS.length)
if (IS_SOAK) await runRows(t, { rows }, SIGN_IN_CHECKS, () => undefined)
