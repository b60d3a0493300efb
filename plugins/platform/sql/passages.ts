import type { FileSearch, FoundChunk } from '../contract/files.ts'
import { wordsAsked } from '../contract/words.ts'
import { MOST_RANKED, rank, weigh } from '../ranking.ts'
import type { Dialect, Query } from '../../store/sql/client.ts'
import { FOUND_CHUNK } from '../models/files.ts'
import { integer } from '../../store/sql/rows.ts'
import { PASSAGES } from './passage-index.ts'
import type { PlatformTables } from './tables.ts'

/** Finds passages by their words: the database says which hold the most, and of these the words are counted. */
export async function searchPassages(
  query: Query,
  t: PlatformTables,
  dialect: Dialect,
  { query: asked, limit, ...search }: FileSearch,
): Promise<readonly FoundChunk[]> {
  const words = wordsAsked(asked)
  if (words.length === 0) return []
  const most = Math.max(limit, MOST_RANKED)
  const { passages, holders, rows } = await PASSAGES[dialect.name].find(query, t, {
    ...search,
    words,
    most,
  })
  const candidates = rows.map((row) => ({
    ...FOUND_CHUNK.read(row),
    held: integer(row['held']),
  }))
  const weights = holders.map((count) => weigh(passages, count))
  return rank(candidates, words, weights, limit)
}
