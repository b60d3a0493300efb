import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Figure, Goal, Values } from './figure.ts'
import { isMet } from './figure.ts'
import { CONNECTIONS } from './figure.ts'
import { publishing } from './payload.ts'
import type { RunOptions } from './run.ts'

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface MeasuredFigure {
  readonly name: string
  readonly title: string
  readonly baseline: string | null
  readonly goals: readonly (Goal & { readonly met: boolean })[]
  readonly met: boolean
  /** Rounds counted. */
  readonly n: number
  readonly values: Readonly<Record<string, Spread>>
  readonly notes: readonly string[]
}

export interface FailedFigure extends Pick<
  MeasuredFigure,
  'name' | 'title' | 'baseline' | 'notes'
> {
  readonly goals: readonly Goal[]
  readonly error: string
}

export interface Report extends RunOptions {
  readonly commit: string
  readonly node: string
  readonly cpus: { readonly count: number; readonly model: string }
  readonly versions: Readonly<Record<string, string>>
  readonly connections: number
  readonly payload_bytes: number
  readonly figures: readonly (MeasuredFigure | FailedFigure)[]
}

/** What the rounds of one figure found. */
export interface Finding {
  readonly figure: Figure
  readonly rounds: readonly Values[]
  readonly notes: readonly string[]
  readonly error: string | undefined
}

export function reportOf(
  options: RunOptions,
  servers: Readonly<Record<string, string>>,
  findings: readonly Finding[],
): Report {
  const [cpu] = cpus()
  return {
    commit: commitOf(),
    node: process.version,
    cpus: { count: cpus().length, model: cpu?.model ?? 'unknown' },
    versions: { ...packageVersions(), ...servers },
    connections: CONNECTIONS,
    payload_bytes: Buffer.byteLength(publishing()),
    ...options,
    figures: findings.map(summarize),
  }
}

function summarize({ figure, rounds, notes, error }: Finding): MeasuredFigure | FailedFigure {
  const { name, title, baseline } = figure
  if (error !== undefined) return { name, title, baseline, goals: figure.goals, notes, error }
  const names = new Set(rounds.flatMap((values) => Object.keys(values)))
  const values = Object.fromEntries(
    [...names].map((value) => [value, spread(rounds.flatMap((round) => round[value] ?? []))]),
  )
  const goals = figure.goals.map((goal) => ({
    ...goal,
    met: isMet(goal, values[goal.value]?.median ?? NaN),
  }))
  const met = goals.every((goal) => goal.met)
  return { name, title, baseline, goals, met, n: rounds.length, values, notes }
}

function spread(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (index: number): number => Number((sorted[index] ?? NaN).toPrecision(4))
  return { median: at(Math.floor(sorted.length / 2)), min: at(0), max: at(sorted.length - 1) }
}

/** What was not committed says so. */
function commitOf(): string {
  const git = (...flags: readonly string[]): string =>
    execFileSync('git', flags, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== ''
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' and changes' : '')
  } catch {
    return 'unknown'
  }
}

const COMPARED = [
  'koa',
  'undici',
  'sqlite3',
  'pg',
  'pg-boss',
  'graphile-worker',
  'bullmq',
  'sirv',
] as const

/** As this repository pins them. */
function packageVersions(): Readonly<Record<string, string>> {
  const manifest = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  ) as Readonly<Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>>
  const pinned = { ...manifest.devDependencies, ...manifest.dependencies }
  return Object.fromEntries(COMPARED.map((name) => [name, pinned[name] ?? 'unknown']))
}
