import type { Round } from './round.ts'

/** What one round of a figure found, by name. `ratio` is the quotient of that round. */
export type Values = Readonly<Record<string, number>>

/** What the median of a value must be. */
export interface Goal {
  readonly value: string
  readonly at_least?: number
  readonly at_most?: number
}

export interface Figure {
  readonly name: string
  readonly title: string
  /** What it stands beside, measured in the same round; null for an absolute figure. */
  readonly baseline: string | null
  /** None for what is told and not judged. */
  readonly goals: readonly Goal[]
  /** Seconds that one round takes at the defaults, about. */
  readonly takes: number
  measure(round: Round): Promise<Values>
}

/** Connections of generators and of bare loops. */
export const CONNECTIONS = 64

/** A goal as the page says it, such as `ratio >= 0.5`. */
export function printGoal({ value, at_least, at_most }: Goal): string {
  return at_least === undefined ? `${value} <= ${at_most}` : `${value} >= ${at_least}`
}

export function isMet({ at_least, at_most }: Goal, median: number): boolean {
  // A value that is no number meets nothing.
  return median >= (at_least ?? -Infinity) && median <= (at_most ?? Infinity)
}
