import pRetry from 'p-retry'
import type { Clock } from '../../../lib/engine/ports.ts'
import { orAborted } from '../../../lib/internal/until-aborted.ts'
import type { Millis } from '../../../lib/time.ts'
import { MINUTE } from '../../../lib/time.ts'
import type { Embedder } from '../../../plugins/embeddings/contract.ts'
import { EmbeddingError, MAX_TEXTS } from '../../../plugins/embeddings/contract.ts'
import type { FileChunk } from '../../../plugins/platform/contract/files.ts'
import type { Platform } from '../../platform.ts'
import { ClaimLost } from '../../jobs/handler.ts'
import type { Held } from './claim.ts'

/** How often texts are given again to a model that did not answer, before the attempt is given up. */
const RETRIES = 3
const FIRST_WAIT: Millis = 500
/** A model that asks for a longer wait is asked again by a later attempt. */
const MAX_WAIT: Millis = MINUTE

/**
 * Adds a vector to every passage of a claimed file, once all of them are added. Nothing where no model is
 * configured.
 *
 * @throws ClaimLost, EmbeddingError, and the signal's reason
 */
export async function embedFile(
  { store, plugins: { embedder }, clock }: Pick<Platform, 'store' | 'plugins' | 'clock'>,
  { file: { id }, claim }: Held,
  chunks: number,
  report: (stage: string, done: number, total: number | null) => void,
  signal: AbortSignal,
): Promise<void> {
  if (embedder === undefined) return
  const { model } = embedder
  for (let first = 0; first < chunks; first += MAX_TEXTS) {
    report('embed', first, chunks)
    const some = await store.files.chunks(id, first, MAX_TEXTS)
    // Nobody but another claim, or a deletion, takes passages away.
    if (some.length !== Math.min(MAX_TEXTS, chunks - first)) throw new ClaimLost()
    const vectors = await embedPatiently(embedder, some.map(textOf), clock, signal)
    const isHeld = await store.write((tx) =>
      tx.files.addVectors(id, claim, { model, first, vectors }),
    )
    if (!isHeld) throw new ClaimLost()
  }
  report('embed', chunks, chunks)
}

/** What a passage is about is often said above it alone. */
function textOf({ heading, text }: FileChunk): string {
  return heading === null ? text : `${heading}\n\n${text}`
}

/** As long as the server asks for, or longer each time. */
async function embedPatiently(
  embedder: Embedder,
  texts: readonly string[],
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  return pRetry(() => embedder.embed(texts, signal), {
    retries: RETRIES,
    // The waits are ours, by the clock that was handed in.
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
