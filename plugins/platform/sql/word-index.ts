import { toHex, utf8 } from '../../../lib/internal/bytes.ts'
import type { Query } from '../../store/sql/client.ts'
import type { Row } from '../../store/sql/rows.ts'
import type { FileSearch, NewChunk } from '../contract/files.ts'
import type { PlatformTables } from './tables.ts'

/** Which chunks of files hold which words. */
export interface Passages {
  /** Columns of the chunks' table that only their words need. */
  readonly columns: string
  /** The statements that make the index; with a chunk its words are gone. */
  index(t: PlatformTables): readonly string[]
  insert(query: Query, t: PlatformTables, file: FileRow, chunks: readonly NewChunk[]): Promise<void>
  /** Looks for chunks of processed files that hold any of the words, at a cost that has a bound. */
  find(query: Query, t: PlatformTables, search: WordSearch): Promise<Matches>
}

export interface WordSearch extends Pick<FileSearch, 'app_id' | 'files'> {
  /** At least one, and 32 at most. */
  readonly words: readonly string[]
  /** Chunks to answer. */
  readonly most: number
}

/** Chunks of an app that hold any of some words. */
export interface Matches {
  /** How many are searched. */
  readonly passages: number
  /** About how many of them hold each of the words. */
  readonly holders: readonly number[]
  /**
   * Those that hold the most, a word counting the more the rarer it is; of equals those that were added first.
   * With `file_id`, `name`, and as `held` the sum of two to the power of each of its words' numbers, as far as
   * it was looked for.
   */
  readonly rows: readonly Row[]
}

/** Whose chunks are kept. */
export interface FileRow {
  readonly id: string
  readonly app_id: string
}

/** Of a word that more passages hold, so many are looked at: it counts little. */
export const MOST_HOLDERS = 2000
/**
 * Passages that one search compares, each counted once for each of its words: the rarest words first, and
 * of the others none once there are so many.
 */
export const MOST_HELD = 10_000

/** What is searched when nothing is. */
export const NO_MATCHES: Matches = { passages: 0, holders: [], rows: [] }

/** An app's id as one word of ASCII, unlike that of any other app. */
export function printAppTerm(appId: string): string {
  return `app${toHex(utf8(appId))}`
}

/** A word that is asked for, and about how many passages hold it. */
export interface Asked {
  /** From 0. */
  readonly number: number
  readonly holders: number
}

/** The rarest words, for as long as together they cost no more than the budget. */
export function rarest<Word extends Asked>(
  words: readonly Word[],
  cost: (word: Word) => number,
  budget: number,
): readonly Word[] {
  let left = budget
  const rarestFirst = words.toSorted((a, b) => a.holders - b.holders || a.number - b.number)
  const beyond = rarestFirst.findIndex((word) => (left -= cost(word)) < 0)
  return beyond === -1 ? rarestFirst : rarestFirst.slice(0, beyond)
}
