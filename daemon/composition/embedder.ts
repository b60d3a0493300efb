import type { Clock } from '../../lib/engine/ports.ts'
import type { Embedder } from '../../plugins/embeddings/contract.ts'
import { EmbeddingError } from '../../plugins/embeddings/contract.ts'
import { EMBEDDERS } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { openModelServer } from './model-server.ts'
import type { Log } from '../telemetry/log.ts'

/** Maximum concurrent requests, for files and searches together. */
const AT_ONCE = 8
/** Above the embedder's own limit for one response. */
const MAX_ANSWER = 32 * 1_048_576

/**
 * Opens the model for embeddings that the operator configured; undefined when knowledge is searched by
 * words only.
 */
export async function openEmbedder(
  config: Config,
  ports: { readonly clock: Clock; readonly ownHosts: readonly string[]; readonly log: Log },
): Promise<Embedder | undefined> {
  const { embeddingsModel: model } = config
  const baseUrl = config.embeddingsBaseUrl ?? config.llmBaseUrl
  // readConfig refuses a model without a server.
  if (model === undefined || baseUrl === undefined) return undefined
  const { clock, ownHosts, log } = ports
  const limits = { ownHosts, atOnce: AT_ONCE, answer: MAX_ANSWER }
  const { fetch, close } = await openModelServer(baseUrl, limits)
  const embedder = await EMBEDDERS.openai({
    baseUrl,
    apiKey: keyFor(baseUrl, config),
    model,
    clock,
    fetch,
  })
  return {
    ...embedder,
    /** A search continues without embeddings, so this log line is the operator's only notice. */
    async embed(texts, signal) {
      try {
        return await embedder.embed(texts, signal)
      } catch (cause) {
        if (cause instanceof EmbeddingError) {
          log.warn({ err: cause, why: cause.internal }, 'the model for embeddings gave no vectors')
        }
        throw cause
      }
    },
    async close() {
      await embedder.close?.()
      await close()
    },
  }
}

/** The language model's key is sent to the server it was configured for, and to no other. */
function keyFor(baseUrl: string, config: Config): string | undefined {
  const { embeddingsApiKey, llmBaseUrl, llmApiKey } = config
  const isSame = llmBaseUrl !== undefined && new URL(llmBaseUrl).origin === new URL(baseUrl).origin
  return embeddingsApiKey ?? (isSame ? llmApiKey : undefined)
}
