import type { Clock, RandomBytes } from '../../lib/engine/ports.ts'
import type { Editor } from '../../plugins/edits/contract.ts'
import { EDITORS } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { openModelServer } from './model-server.ts'
import { JOB_KINDS } from '../../plugins/platform/contract/jobs.ts'

/** Above the editor's own limit for one response. */
const MAX_ANSWER = 32 * 1_048_576

/** The models that callers may name: the default and those that the operator lists. */
export function allowedModels({ llmModel, llmModels }: Config): readonly string[] {
  return [...new Set([...(llmModel === undefined ? [] : [llmModel]), ...llmModels])]
}

/** Opens the editor that the operator configured. */
export async function openEditor(
  { llmBaseUrl: baseUrl, llmApiKey: apiKey, llmModel: model }: Config,
  ports: {
    readonly clock: Clock
    readonly random: RandomBytes
    readonly ownHosts: readonly string[]
  },
): Promise<Editor> {
  // readConfig refuses a server without a model.
  if (baseUrl === undefined || model === undefined) return EDITORS.none()
  const { clock, random, ownHosts } = ports
  const limits = { ownHosts, atOnce: JOB_KINDS.edit.concurrency, answer: MAX_ANSWER }
  const { fetch, close } = await openModelServer(baseUrl, limits)
  const editor = await EDITORS.openai({ baseUrl, apiKey, model, clock, random, fetch })
  return {
    ...editor,
    async close() {
      await editor.close?.()
      await close()
    },
  }
}
