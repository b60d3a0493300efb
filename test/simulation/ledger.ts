import { isDeepStrictEqual } from 'node:util'
import { DAY, HOUR } from '../../lib/time.ts'
import { createLedgerModel } from './ledger-model.ts'
import { compare } from './ledger-rows.ts'
import type { Step } from './ledger-steps.ts'
import { STEPS } from './ledger-steps.ts'
import type { LedgerDefect, LedgerWorld, Stepped, World } from './ledger-world.ts'
import { createLedgerWorld, told } from './ledger-world.ts'

/** Steps after which all accounts are new: the model remembers every micro. */
const GENERATION = 250
/** Steps from one verification of an account to the next; each reads all entries, so of all accounts it is rarer. */
const VERIFIED_EVERY = 500
const ALL_VERIFIED_EVERY = 10_000

export interface LedgerRun {
  readonly steps: number
  /** How many steps of each name there were. */
  readonly calls: ReadonlyMap<string, number>
  /** The first step after which ledger and model differ; null for none. */
  readonly difference: string | null
}

/**
 * Random steps of users, the operator and a processor on a ledger and on a model of it by brute force; the
 * answers and all rows of the accounts are compared after each. The same seed makes the same steps.
 */
export function simulateLedger(
  stepped: Stepped,
  seed: string,
  steps: number,
  defect?: LedgerDefect,
): Promise<LedgerRun> {
  const world: World = { ...createLedgerWorld(stepped, seed, defect), payments: [] }
  return runSteps(world, { table: STEPS, seed, steps, moveClock, begun: beginPayments })
}

/** How a world is stepped through. */
interface Stepping<Of extends LedgerWorld> {
  readonly table: readonly [Step<Of>, ...Step<Of>[]]
  readonly seed: string
  readonly steps: number
  /** Called before each step. */
  moveClock(world: Of): void
  /** Called before all accounts are replaced by new ones; there may be none yet. */
  ending?(world: Of): Promise<unknown>
  /** Called when all accounts are new. */
  begun(world: Of): Promise<void>
}

export async function runSteps<Of extends LedgerWorld>(
  world: Of,
  stepping: Stepping<Of>,
): Promise<LedgerRun> {
  const { table, seed, steps } = stepping
  const calls = new Map<string, number>()
  for (let step = 0; step < steps; step += 1) {
    if (step % GENERATION === 0) {
      await stepping.ending?.(world)
      await begin(world, seed, step)
      await stepping.begun(world)
    }
    stepping.moveClock(world)
    const [name, run] = world.random.pick(table)
    calls.set(name, (calls.get(name) ?? 0) + 1)
    const difference = await takeStep(world, run, step + 1, steps).catch(String)
    if (difference !== null) {
      return { steps: step, calls, difference: `step ${step} (${name}): ${difference}` }
    }
  }
  return { steps, calls, difference: null }
}

/** Answers in what ledger and model differ after a step; null for nothing. */
async function takeStep<Of extends LedgerWorld>(
  world: Of,
  run: Step<Of>[1],
  number: number,
  steps: number,
): Promise<string | null> {
  world.touched.clear()
  const { expected, found } = await run(world)
  if (!isDeepStrictEqual(found, expected)) return told({ expected, found })
  const differing = await compare(world)
  if (differing !== undefined) return differing
  const isLast = number === steps
  const accounts =
    isLast || number % ALL_VERIFIED_EVERY === 0
      ? [null]
      : number % VERIFIED_EVERY === 0
        ? world.accounts.slice(0, 1)
        : []
  for (const account of accounts) {
    const { differences } = await world.store.ledger.verify(account)
    if (differences.length > 0) return told(differences[0])
  }
  return null
}

/** New accounts, with budgets of their own. Nothing of earlier ones is left to any sweep. */
async function begin(world: LedgerWorld, seed: string, step: number): Promise<void> {
  const later = world.now + 1000 * DAY
  await world.store.write(async (tx) => {
    await tx.ledger.expireHolds(later, 10_000)
    await tx.ledger.expireLots(later, 10_000)
  })
  world.model = createLedgerModel()
  world.accounts = ['a', 'b', 'c'].map((name) => `${seed} ${step} ${name}`)
  world.credits.length = 0
}

async function beginPayments({ payments }: World): Promise<void> {
  payments.length = 0
}

/** Mostly onward, now and then to the next month, and sometimes back. */
function moveClock(world: LedgerWorld): void {
  const { random } = world
  if (random.oneIn(60)) world.now += 15 * DAY
  else if (random.oneIn(15)) world.now -= random.below(2 * DAY)
  else world.now += random.below(3 * HOUR)
}
