import { parseAllowList } from '../lib/egress/allow-list.ts'
import type { Clock, RandomBytes } from '../lib/engine/ports.ts'
import type { Editor } from '../plugins/edits/contract.ts'
import { EDITORS, EGRESS } from '../plugins/registry.ts'
import type { Config } from './config.ts'
import { ConfigError } from './config.ts'
import { EDITS_AT_ONCE } from './worker/edits.ts'

/** More than the longest answer that is read of a model, all that the protocol adds included. */
const MAX_ANSWER = 32 * 1_048_576

/** Trying again cannot help: the operator must set it up otherwise. */
const FINAL: ReadonlySet<string> = new Set(['refused_address', 'tls'])

/**
 * What carries out prompts, as the operator configured it. Its server alone can be reached, on its very
 * port, also where it is private or speaks plain http.
 *
 * @throws ConfigError for a server without a model
 */
export async function openEditor(
  { llmBaseUrl: baseUrl, llmApiKey: apiKey, llmModel: model }: Config,
  ports: {
    readonly clock: Clock
    readonly random: RandomBytes
    readonly ownHosts: readonly string[]
  },
): Promise<Editor> {
  if (baseUrl === undefined) return EDITORS.none()
  if (model === undefined) {
    throw new ConfigError('KEYHOOK_LLM_BASE_URL is set, and KEYHOOK_LLM_MODEL must be set with it')
  }
  const { clock, random, ownHosts } = ports
  const createEgress = await EGRESS.undici()
  const egress = createEgress({
    policy: { schemes: [], allow: parseAllowList(placeOf(baseUrl)), ownHosts },
    maxSocketsPerOrigin: EDITS_AT_ONCE,
    maxAnswerBytes: MAX_ANSWER,
  })
  const editor = await EDITORS.openai({
    baseUrl,
    apiKey,
    model,
    clock,
    random,
    async ask(request) {
      const answer = await egress.stream({ ...request, method: 'POST' })
      if (answer.ok) return answer
      throw Object.assign(new Error(answer.message), { final: FINAL.has(answer.code) })
    },
  })
  return {
    ...editor,
    async close() {
      await editor.close?.()
      await egress.close()
    },
  }
}

function placeOf(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}
