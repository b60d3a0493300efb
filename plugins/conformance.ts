/**
 * What every room's published suite is made of: cases that assert with `node:assert` alone, so that any
 * runner can run them.
 *
 * @module
 */
import {
  FUNCTION,
  NAME,
  anyListOf,
  declareArguments,
  listOf,
  optional,
  recordOf,
} from '../lib/internal/arguments.ts'
import type { Millis } from '../lib/time.ts'
import { MINUTE, SECOND } from '../lib/time.ts'

/** One behaviour, or one race, that every implementation of a contract must show. */
export interface ConformanceCase<Harness> {
  /** The behaviour, as a sentence. */
  readonly name: string
  /** A capability without which the case means nothing. */
  readonly requires?: string
  /** Rejects when the implementation behaves otherwise. */
  run(harness: Harness): Promise<void>
}

/** What an implementation gives a case to work with; it is made anew for every case. */
export interface ConformanceHarness {
  /** Frees what the case opened. */
  close?(): Promise<void>
}

const readRun = declareArguments('runCases', {
  cases: {
    ...listOf(recordOf({ name: NAME, requires: optional(NAME), run: FUNCTION })),
    allowed: 'a list of cases, not empty',
  },
  makeHarness: FUNCTION,
  register: FUNCTION,
  capabilities: optional(anyListOf(NAME)),
})

/**
 * Hands every case to a runner, each with a harness of its own that is closed afterwards.
 *
 * A case that requires a capability which is not listed is left out. Answers the names of those left
 * out, so that an implementation's test can state them. A case that takes longer than a minute fails.
 *
 * @param register a runner's `test`: registers a title with what must resolve
 * @param capabilities what the implementation claims to be able to do, of what the cases require; default none
 * @throws TypeError for a capability that no case requires: a misspelt one would leave cases out
 * @example
 * import { test } from 'node:test'
 * runCases(storeCases, makeHarness, (name, run) => void test(name, run))
 */
export function runCases<Harness extends ConformanceHarness>(
  ...args: readonly [
    cases: readonly ConformanceCase<Harness>[],
    makeHarness: () => Promise<Harness>,
    register: (name: string, run: () => Promise<void>) => void,
    capabilities?: readonly string[],
  ]
): readonly string[] {
  readRun(args)
  const [cases, makeHarness, register, capabilities = []] = args
  const known = new Set(cases.flatMap(({ requires }) => requires ?? []))
  const unknown = capabilities.find((name) => !known.has(name))
  if (unknown !== undefined) {
    const names = [...known].join(', ') || 'none'
    throw new TypeError(`runCases: no case requires the capability ${unknown}; known: ${names}`)
  }
  const isAble = ({ requires }: ConformanceCase<Harness>): boolean =>
    requires === undefined || capabilities.includes(requires)
  for (const one of cases.filter(isAble)) {
    register(one.name, async () => {
      const harness = await makeHarness()
      try {
        await withDeadline(one, harness)
      } finally {
        await harness.close?.()
      }
    })
  }
  return cases.filter((one) => !isAble(one)).map(({ name }) => name)
}

/** Maximum time of a case: an implementation that never answers fails that case, and not the whole run. */
const DEADLINE: Millis = MINUTE

async function withDeadline<Harness>(
  { name, run }: ConformanceCase<Harness>,
  harness: Harness,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // It keeps the process alive, which would otherwise end without a word when nothing else is awaited.
    timer = setTimeout(() => {
      reject(new Error(`still running after ${DEADLINE / SECOND} seconds: ${name}`))
    }, DEADLINE)
  })
  try {
    await Promise.race([run(harness), late])
  } finally {
    clearTimeout(timer)
  }
}
