import { setImmediate as giveWay } from 'node:timers/promises'
import type { ChunkPlace, FoundChunk } from './contract/files.ts'
import { wordsOfChunk } from './contract/words.ts'

/** Passages whose words one search counts: those that hold the most of what is asked for. */
export const MOST_RANKED = 64
/** Characters of a passage, from its beginning, and of its headings, whose words are counted. */
const MOST_READ = 2000
/** Passages that are read before others have their turn. */
const AT_ONCE = 8

/** How soon more of the same word counts no more, and how much the length of a passage counts: as BM25 has it. */
const [SATURATION, LENGTH] = [1.2, 0.75]

/** A passage that holds some of the words asked for. */
export interface Candidate extends Omit<FoundChunk, 'score'> {
  /** Which of them: the sum of two to the power of each one's number, from 0. */
  readonly held: number
}

/** How much a word counts: the more, the fewer of all passages hold it. */
export function weigh(passages: number, holders: number): number {
  return Math.log(1 + passages / Math.max(1, holders))
}

/**
 * The best of few candidates by BM25: how much the words count that a passage holds, and how much of it
 * they are. Others have their turn meanwhile.
 *
 * @param words what is asked for, by number
 * @param weights how much each of them counts
 */
export async function rank(
  candidates: readonly Candidate[],
  words: readonly string[],
  weights: readonly number[],
  limit: number,
): Promise<readonly FoundChunk[]> {
  const read: Counted[] = []
  for (const candidate of candidates) {
    if (read.length > 0 && read.length % AT_ONCE === 0) await giveWay()
    read.push(count(candidate, words))
  }
  const mean = read.reduce((sum, { length }) => sum + length, 0) / read.length
  return read
    .map(({ candidate, counts, length }) => {
      const { held: _, ...chunk } = candidate
      const slack = SATURATION * (1 - LENGTH + (LENGTH * length) / mean)
      const score = counts.reduce(
        (sum, times, number) =>
          sum + ((weights[number] ?? 0) * times * (SATURATION + 1)) / (times + slack),
        0,
      )
      return { ...chunk, score }
    })
    .sort((a, b) => b.score - a.score || comparePlaces(a, b))
    .slice(0, limit)
}

interface Counted {
  readonly candidate: Candidate
  /** How often each of the words stands in it, by number. */
  readonly counts: readonly number[]
  /** In words. */
  readonly length: number
}

function count(candidate: Candidate, words: readonly string[]): Counted {
  const { heading, text, held } = candidate
  const numbers = new Map(words.map((word, number) => [word, number]))
  const counts = words.map(() => 0)
  const read = wordsOfChunk({
    heading: heading?.slice(0, MOST_READ) ?? null,
    text: text.slice(0, MOST_READ),
  })
  for (const word of read) {
    const number = numbers.get(word)
    if (number !== undefined) counts[number] = (counts[number] ?? 0) + 1
  }
  return {
    candidate,
    // It may stand beyond what is read.
    counts: counts.map((times, number) => times || (holds(held, number) ? 1 : 0)),
    length: Math.max(1, read.length),
  }
}

/** Beyond 31 bits, where bitwise operators do not reach. */
function holds(held: number, number: number): boolean {
  return Math.floor(held / 2 ** number) % 2 === 1
}

/** Files in the order in which they were made, the passages of each in theirs. */
export function comparePlaces(a: ChunkPlace, b: ChunkPlace): number {
  if (a.file_id === b.file_id) return a.ordinal - b.ordinal
  return a.file_id < b.file_id ? -1 : 1
}
