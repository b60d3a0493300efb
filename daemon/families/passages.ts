import type { Clock } from '../../lib/engine/ports.ts'
import type { Limiter } from '../../lib/internal/limiter.ts'
import { orAborted } from '../../lib/internal/until-aborted.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { Embedder } from '../../plugins/embeddings/contract.ts'
import { EmbeddingError } from '../../plugins/embeddings/contract.ts'
import type { FileSearch, FoundChunk } from '../../plugins/platform/contract/files.ts'
import type { Turn } from '../queues/fair-queue.ts'
import type { Platform } from '../platform.ts'

/** How a search matched: by words only, or also by meaning. */
export const SEARCH_MODES = ['lexical', 'fused'] as const

export interface Found {
  readonly mode: (typeof SEARCH_MODES)[number]
  /** Best match first. */
  readonly passages: readonly FoundChunk[]
}

/** Candidates by words, and as many by embedding. */
const CANDIDATES = 100
/** Maximum passages of an app whose embeddings a search compares; of the rest, only words match. */
const MOST_COMPARED = 20_000
/** Maximum wait for the embedding of a query. */
const EMBEDDING_TIMEOUT: Millis = 2 * SECOND
/** Rank constant of the fusion: the larger it is, the less the first ranks dominate. */
const RANK_OFFSET = 60

/**
 * Searches the passages of an app's knowledge in its account's turn: by words, and by meaning when the
 * embedding model responds in time, with the ranks of both fused.
 *
 * @param turn its holder is the account
 * @throws KeyhookError `rate_limited` when too many searches wait, and the reason of the turn's signal
 */
export function findPassages(
  platform: Pick<Platform, 'store' | 'plugins' | 'clock' | 'queues'>,
  search: FileSearch,
  turn: Omit<Turn, 'subject'>,
): Promise<Found> {
  const { embedder } = platform.plugins
  const { searches } = platform.queues
  const read: Limiter = (work) =>
    searches.reads(async () => {
      turn.signal?.throwIfAborted()
      return work()
    })
  return searches.accounts({ ...turn, subject: turn.holder }, () =>
    embedder === undefined
      ? findByWords(platform, search, read)
      : findByMeaning({ ...platform, embedder }, search, read),
  )
}

async function findByWords(
  { store }: Pick<Platform, 'store'>,
  search: FileSearch,
  read: Limiter,
): Promise<Found> {
  return { mode: 'lexical', passages: await read(() => store.files.search(search)) }
}

async function findByMeaning(
  { store, embedder, clock }: Pick<Platform, 'store' | 'clock'> & { readonly embedder: Embedder },
  search: FileSearch,
  read: Limiter,
): Promise<Found> {
  const { app_id, files, limit } = search
  const candidates = Math.max(CANDIDATES, limit)
  const [byWords, vector] = await Promise.all([
    read(() => store.files.search({ ...search, limit: candidates })),
    vectorOf(embedder, clock, search.query),
  ])
  const near =
    vector === undefined
      ? []
      : await read(() =>
          store.files.nearest({
            app_id,
            files,
            vector,
            model: embedder.model,
            limit: candidates,
            most: MOST_COMPARED,
            known: byWords.map(({ file_id, ordinal }) => ({ file_id, ordinal })),
          }),
        )
  return near.length === 0
    ? { mode: 'lexical', passages: byWords.slice(0, limit) }
    : { mode: 'fused', passages: fuse([byWords, near], limit) }
}

/** Undefined without an embedding in time, for any reason: a search never fails because of it. */
async function vectorOf(
  embedder: Embedder,
  clock: Pick<Clock, 'after'>,
  query: string,
): Promise<Float32Array | undefined> {
  const late = new AbortController()
  const cancel = clock.after(EMBEDDING_TIMEOUT, () => {
    late.abort(new EmbeddingError('embeddings_unavailable', { internal: 'no vector in time' }))
  })
  try {
    const [vector] = await orAborted(embedder.embed([query], late.signal), late.signal)
    return vector
  } catch {
    return undefined
  } finally {
    cancel()
  }
}

/** Reciprocal rank fusion: a passage in several lists scores more, the higher it ranks in each. */
function fuse(lists: readonly (readonly FoundChunk[])[], limit: number): readonly FoundChunk[] {
  const fused = new Map<string, FoundChunk>()
  for (const list of lists) {
    for (const [index, chunk] of list.entries()) {
      const key = `${chunk.file_id} ${chunk.ordinal}`
      const score = (fused.get(key)?.score ?? 0) + 1 / (RANK_OFFSET + index + 1)
      fused.set(key, { ...chunk, score })
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score || compare(a, b)).slice(0, limit)
}

function compare(a: FoundChunk, b: FoundChunk): number {
  if (a.file_id === b.file_id) return a.ordinal - b.ordinal
  return a.file_id < b.file_id ? -1 : 1
}
