/**
 * `npm run bench`: every figure beside a baseline of the same round, since the machine drifts. Progress goes
 * to standard error, JSON to standard output.
 *
 * Options: --only a,b  --rounds N (default 5)  --seconds N (2)  --backlog N (100000)  --list.
 */
import { parseArgs } from 'node:util'
import type { Figure, Values } from './figure.ts'
import { printGoal } from './figure.ts'
import { FIGURES } from './figures/index.ts'
import type { Leftovers } from './leftovers.ts'
import { createLeftovers } from './leftovers.ts'
import type { Finding } from './report.ts'
import { reportOf } from './report.ts'
import { createRound } from './round.ts'
import type { Run } from './run.ts'
import { createRun } from './run.ts'

/** A figure that has not ended by then never will. */
const PATIENCE_MS = 180_000

const { values: given } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    backlog: { type: 'string', default: '100000' },
    list: { type: 'boolean', default: false },
  },
})

function chosen(): readonly Figure[] {
  if (given.only === undefined) return FIGURES
  const names = given.only.split(',')
  const unknown = names.find((name) => FIGURES.every((figure) => figure.name !== name))
  if (unknown !== undefined) throw new Error(`there is no figure ${unknown}; --list names them`)
  return FIGURES.filter(({ name }) => names.includes(name))
}

function list(figures: readonly Figure[]): string {
  const lines = figures.map(
    ({ name, title, goals, takes }) =>
      `${name.padEnd(26)} ${String(takes).padStart(3)} s  ${title}: ${goals.map(printGoal).join(', ') || 'no goal'}`,
  )
  const round = figures.reduce((sum, { takes }) => sum + takes, 0)
  const total = `a round takes about ${round} s; 5 and the warm-up about ${Math.ceil((round * 6) / 60)} min`
  return `${[...lines, total].join('\n')}\n`
}

function positive(name: 'rounds' | 'seconds' | 'backlog'): number {
  const value = Number(given[name])
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0`)
  return value
}

/** A round of a figure: what it started is ended, whatever became of it. */
async function measureOnce(
  figure: Figure,
  run: Run,
  notes: Set<string>,
  all: Leftovers,
): Promise<Values> {
  const own = all.part()
  let patience: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    patience = setTimeout(() => {
      reject(new Error(`not measured within ${PATIENCE_MS / 1000} s`))
    }, PATIENCE_MS)
  })
  try {
    const round = createRound(run, own, (text) => notes.add(text))
    return await Promise.race([figure.measure(round), late])
  } finally {
    clearTimeout(patience)
    await own.end()
  }
}

interface Open {
  readonly figure: Figure
  readonly notes: Set<string>
  rounds: Values[]
  error: string | undefined
}

/** Round 0 warms up and is thrown away. */
async function measureAll(
  figures: readonly Figure[],
  run: Run,
  all: Leftovers,
): Promise<readonly Finding[]> {
  const findings = figures.map((figure): Open => {
    return { figure, notes: new Set(), rounds: [], error: undefined }
  })
  for (let round = 0; round <= run.options.rounds; round++) {
    for (const finding of findings.filter(({ error }) => error === undefined)) {
      const { figure, notes } = finding
      try {
        const values = await measureOnce(figure, run, notes, all)
        if (round > 0) finding.rounds.push(values)
        tell(round, figure, values)
      } catch (cause) {
        finding.error = cause instanceof Error ? cause.message : String(cause)
        process.stderr.write(`round ${round} ${figure.name}: ${finding.error}\n`)
      }
    }
  }
  return findings.map((finding) => ({ ...finding, notes: [...finding.notes] }))
}

function tell(round: number, { name }: Figure, values: Values): void {
  const shown = Object.entries(values).map(
    ([key, value]) => `${key} ${Number(value.toPrecision(4))}`,
  )
  process.stderr.write(`round ${round} ${name}: ${shown.join(', ')}\n`)
}

async function main(): Promise<void> {
  const figures = chosen()
  if (given.list) {
    process.stdout.write(list(figures))
    return
  }
  const leftovers = createLeftovers()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void leftovers.end().then(() => process.exit(1)))
  }
  try {
    const options = {
      rounds: positive('rounds'),
      seconds: positive('seconds'),
      backlog: positive('backlog'),
    }
    // A part of its own, ended after all that figures made with it.
    const run = createRun(options, leftovers.part())
    const findings = await measureAll(figures, run, leftovers)
    const report = reportOf(options, await run.versions(), findings)
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  } finally {
    await leftovers.end()
  }
}

await main()
