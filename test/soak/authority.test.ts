import { fork } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import type { Outcome } from '../support/attack.ts'
import { chooseSeed } from '../support/seeded-random.ts'
import { sized } from '../support/soak.ts'

const CALLS = sized(12_000, 20_000, 100_000)
const PROCESSES = 2

const CHILD = new URL('../support/attack-child.js', import.meta.url)

async function attackInChild(folder: string, seed: string, index: number): Promise<Outcome[]> {
  const total = Math.ceil(CALLS / PROCESSES)
  const given = [folder, seed, index, PROCESSES, total].map(String)
  const child = fork(CHILD, given)
  const exited = once(child, 'exit')
  const [message] = (await Promise.race([once(child, 'message'), exited])) as [unknown]
  await exited
  if (!Array.isArray(message)) throw new Error(`the attack ended with ${String(message)}`)
  return message as Outcome[]
}

// A minute for 100,000 calls when the machine is idle; the runner's own limit suits smaller files.
t.setTimeout(15 * MINUTE)

await t.test(
  `no sequence of ${CALLS} random calls by a key yields a live credential beyond what it held`,
  async (t) => {
    const seed = chooseSeed()
    t.comment(`SEED=${seed}`)
    const folder = t.testdir()
    const children = Array.from({ length: PROCESSES }, (_, index) =>
      attackInChild(folder, seed, index),
    )
    const outcomes = (await Promise.all(children)).flat()
    const sum = (count: (outcome: Outcome) => number): number =>
      outcomes.reduce((total, outcome) => total + count(outcome), 0)

    t.same(
      outcomes.flatMap(({ faults }) => faults),
      [],
    )
    const calls = sum((outcome) => outcome.calls)
    const values = sum((outcome) => outcome.values)
    const judged = sum((outcome) => outcome.judged)
    t.comment(`${calls} calls in ${outcomes.length} runs; ${values} values, judged ${judged} times`)
    t.ok(calls >= CALLS)
    for (const operation of new Set(outcomes.flatMap(({ called }) => Object.keys(called)))) {
      const done = sum((outcome) => outcome.done[operation] ?? 0)
      t.comment(`${operation}: ${done} of ${sum((outcome) => outcome.called[operation] ?? 0)}`)
      t.ok(done > 0, `${operation} is carried out at times`)
    }
  },
)
