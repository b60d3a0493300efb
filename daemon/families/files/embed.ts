import pRetry from 'p-retry'
import type { Clock } from '../../../lib/engine/ports.ts'
import { orAborted } from '../../../lib/internal/until-aborted.ts'
import type { Millis } from '../../../lib/time.ts'
import { MINUTE } from '../../../lib/time.ts'
import type { Embedder } from '../../../plugins/embeddings/contract.ts'
import { EmbeddingError, MAX_TEXTS } from '../../../plugins/embeddings/contract.ts'
import type { FileChunk, FileRecord } from '../../../plugins/platform/contract/files.ts'
import type { Platform } from '../../platform.ts'
import type { Leased } from '../../jobs/handler.ts'
import { ClaimLost } from '../../jobs/handler.ts'

/** Maximum retries of texts when the model does not answer. */
const RETRIES = 3
const FIRST_WAIT: Millis = 500
/** Maximum wait that the model may ask for; after a longer one, a later attempt continues. */
const MAX_WAIT: Millis = MINUTE

/**
 * Adds a vector to every passage of a claimed file, after all passages are added. Does nothing without a
 * configured model.
 *
 * @throws ClaimLost, EmbeddingError, and the signal's reason
 */
export async function embedFile(
  { store, plugins: { embedder }, clock }: Pick<Platform, 'store' | 'plugins' | 'clock'>,
  { job: { claim }, subject: { id } }: Leased<FileRecord>,
  chunks: number,
  report: (stage: string, done: number, total: number | null) => void,
  signal: AbortSignal,
): Promise<void> {
  if (embedder === undefined) return
  const { model } = embedder
  for (let first = 0; first < chunks; first += MAX_TEXTS) {
    report('embed', first, chunks)
    const some = await store.files.chunks(id, first, MAX_TEXTS)
    // Only another claim or a deletion removes passages.
    if (some.length !== Math.min(MAX_TEXTS, chunks - first)) throw new ClaimLost()
    const vectors = await embedPatiently(embedder, some.map(textOf), clock, signal)
    const isHeld = await store.write((tx) =>
      tx.files.addVectors(id, claim, { model, first, vectors }),
    )
    if (!isHeld) throw new ClaimLost()
  }
  report('embed', chunks, chunks)
}

/** With the headings above it, which often name the subject of a passage. */
function textOf({ heading, text }: FileChunk): string {
  return heading === null ? text : `${heading}\n\n${text}`
}

/** Retries after the wait that the server asks for, or after one that grows with every retry. */
async function embedPatiently(
  embedder: Embedder,
  texts: readonly string[],
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  return pRetry(() => embedder.embed(texts, signal), {
    retries: RETRIES,
    // The waits here use the injected clock.
    minTimeout: 0,
    async shouldRetry({ error, attemptNumber }) {
      if (signal.aborted || !(error instanceof EmbeddingError) || !error.retryable) return false
      const wait = error.wait ?? FIRST_WAIT * 2 ** (attemptNumber - 1)
      if (wait > MAX_WAIT) return false
      await pause(wait, clock, signal)
      return true
    },
  })
}

async function pause(
  wait: Millis,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<void> {
  let cancel = (): void => undefined
  const over = new Promise<void>((resolve) => {
    cancel = clock.after(wait, resolve)
  })
  await orAborted(over, signal).finally(() => {
    cancel()
  })
}
