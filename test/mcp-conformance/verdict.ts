import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Exclusion } from './exclusions.ts'

const checks = z.array(
  z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }),
)

/** What one check of a scenario found, the worst of its occurrences. */
export interface Found {
  /** Of the protocol, at whose wire it was run. */
  readonly revision: string
  readonly scenario: string
  readonly check: string
  readonly status: string
  readonly message: string
}

/** From the best to the worst. A check that was skipped has shown nothing. */
const STATUSES = ['INFO', 'SUCCESS', 'SKIPPED', 'WARNING', 'FAILURE']

const isPassed = ({ status }: Found): boolean => status === 'INFO' || status === 'SUCCESS'

/** Reads what the suite wrote: a folder for each scenario, with the file of its checks. */
export async function readFound(revision: string, folder: string): Promise<readonly Found[]> {
  const found = new Map<string, Found>()
  for (const name of (await readdir(folder)).sort()) {
    const [, scenario = name] = /^server-(.+)-\d{4}-\d\d-\d\dT.*$/.exec(name) ?? []
    const text = await readFile(join(folder, name, 'checks.json'), 'utf8')
    for (const { id, status, errorMessage = '' } of checks.parse(JSON.parse(text))) {
      const known = found.get(`${scenario} ${id}`)
      const isWorse =
        known === undefined || STATUSES.indexOf(status) > STATUSES.indexOf(known.status)
      if (!isWorse) continue
      found.set(`${scenario} ${id}`, {
        revision,
        scenario,
        check: id,
        status,
        message: errorMessage,
      })
    }
  }
  return [...found.values()]
}

export interface Verdict {
  /** Scenarios all of whose checks passed, each at each of its revisions. */
  readonly passed: readonly string[]
  /** Those of which nothing but excluded checks did not pass. */
  readonly excluded: readonly string[]
  /** Checks that passed, and those that are excluded. */
  readonly checks: { readonly passed: number; readonly excluded: number }
  /** What is wrong, a line each. */
  readonly faults: readonly string[]
}

/** Compares what was found with what is excluded: both too little and too much is a fault. */
export function judge(found: readonly Found[], exclusions: readonly Exclusion[]): Verdict {
  const failed = found.filter((one) => !isPassed(one))
  const unexcused = failed.filter((one) => !exclusions.some((row) => covers(row, one)))
  const failing = new Set(failed.map(nameOf))
  const faulty = new Set(unexcused.map(nameOf))
  const names = [...new Set(found.map(nameOf))]
  return {
    passed: names.filter((name) => !failing.has(name)),
    excluded: names.filter((name) => failing.has(name) && !faulty.has(name)),
    checks: {
      passed: found.length - failed.length,
      excluded: failed.length - unexcused.length,
    },
    faults: [...unexcused.map(printFound), ...exclusions.flatMap((row) => staleIn(row, failed))],
  }
}

function nameOf({ scenario, revision }: Found): string {
  return `${scenario} at ${revision}`
}

function covers({ scenarios, checks: named }: Exclusion, { scenario, check }: Found): boolean {
  return scenarios.includes(scenario) && named?.includes(check) !== false
}

function printFound(found: Found): string {
  return `${nameOf(found)}: ${found.check} is ${found.status}: ${found.message}`
}

/** Scenarios and checks of an exclusion that passed at every revision, or were never made. */
function staleIn(row: Exclusion, failed: readonly Found[]): readonly string[] {
  const covered = failed.filter((one) => covers(row, one))
  const { scenarios, checks: named = [] } = row
  return [
    ...scenarios.filter((name) => covered.every(({ scenario }) => scenario !== name)),
    ...named.filter((name) => covered.every(({ check }) => check !== name)),
  ].map((name) => `${name} is excluded, and passes`)
}
