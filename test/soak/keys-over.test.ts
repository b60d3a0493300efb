import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { runKeysOver } from '../adversarial/keys/over.ts'
import { overA2a, overMcp } from '../support/protocols.ts'
import { chooseSeed, createSeededRandom } from '../support/seeded-random.ts'
import { sized } from '../support/soak.ts'

const NO_KEY = 'the owner asks alone, or a body that no JSON printer writes'
const STATEMENTS = 'it is about statements below the protocols'

/** Rows that mean nothing over either protocol. */
const OMITTED: Readonly<Record<string, string>> = {
  K01: NO_KEY,
  K03: NO_KEY,
  K04: NO_KEY,
  K29: NO_KEY,
  K46: NO_KEY,
  K53: STATEMENTS,
  K54: STATEMENTS,
  K55: STATEMENTS,
  K57: STATEMENTS,
  K59: STATEMENTS,
}

const TWICE =
  'each call is admitted twice, at the door and for its operation: a late answer is older'
const NO_SKILL = 'no skill does it, and a race is between the operations themselves'

t.setTimeout(10 * MINUTE)
const seed = chooseSeed()
t.comment(`SEED=${seed}`)
const random = createSeededRandom(seed)
/** `npm test` runs one row of this many. */
const ONE_IN = sized(4, 1)

await t.test('the table of keys over MCP', (t) =>
  runKeysOver(t, overMcp, { ...OMITTED, K45: TWICE }, () => random.oneIn(ONE_IN)),
)
await t.test('the table of keys over A2A', (t) => {
  const omitted = { K39: NO_SKILL, K40: NO_SKILL, K44: NO_SKILL }
  return runKeysOver(t, overA2a, { ...OMITTED, ...omitted, K45: TWICE }, () => random.oneIn(ONE_IN))
})
