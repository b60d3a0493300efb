import { createHash } from 'node:crypto'

/** How deliveries reach the intake; without it once each, as they were sent. */
export interface Arrangement {
  /** How often each is delivered; default 1. */
  readonly copies?: number
  readonly order?: 'as_sent' | 'reverse' | 'random'
  /** Of the random choices; default empty. */
  readonly seed?: string
  /** How many are lost, chosen at random, with all their copies; default 0. */
  readonly lose?: number
}

/** Repeats, reorders and loses deliveries, always the same for the same seed. */
export function arrange<T>(sent: readonly T[], how: Arrangement = {}): readonly T[] {
  const { copies = 1, order = 'as_sent', seed = '', lose = 0 } = how
  const lost = new Set(shuffled(sent.keys(), `${seed} lost`).slice(0, lose))
  const kept = sent.filter((_, index) => !lost.has(index))
  const all = Array.from({ length: copies }, () => kept).flat()
  if (order === 'as_sent') return all
  return order === 'reverse' ? all.toReversed() : shuffled(all, `${seed} order`)
}

function shuffled<T>(given: Iterable<T>, seed: string): readonly T[] {
  return [...given]
    .map((one, index) => ({ one, rank: rankOf(`${seed} ${index}`) }))
    .sort((a, b) => a.rank.localeCompare(b.rank))
    .map(({ one }) => one)
}

function rankOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
