import type { Setting } from './setting.ts'
import { optionalSetting } from './setting.ts'
import { parseModelKey, parseModelUrl, parseModels } from './values.ts'

/** Settings of language models and of models for embeddings. */
export const MODEL_SETTINGS = {
  llmBaseUrl: optionalSetting({
    env: 'KEYHOOK_LLM_BASE_URL',
    doc: "Base URL of a language model with OpenAI's API, such as http://127.0.0.1:11434/v1.",
    shown: 'none: edits by prompt are refused',
    parse: parseModelUrl,
  }),
  llmApiKey: optionalSetting({
    env: 'KEYHOOK_LLM_API_KEY',
    doc: 'Bearer token for that server.',
    shown: 'none',
    secret: true,
    parse: parseModelKey,
  }),
  llmModel: optionalSetting({
    env: 'KEYHOOK_LLM_MODEL',
    doc: 'Default model for prompts.',
    shown: 'none; needed with KEYHOOK_LLM_BASE_URL',
    parse: (text) => text,
  }),
  llmModels: {
    env: 'KEYHOOK_LLM_MODELS',
    doc: 'Models that callers may name in addition to KEYHOOK_LLM_MODEL, comma separated.',
    shown: 'none: KEYHOOK_LLM_MODEL only',
    fallback: [],
    parse: parseModels,
  } satisfies Setting<readonly string[]>,
  embeddingsModel: optionalSetting({
    env: 'KEYHOOK_EMBEDDINGS_MODEL',
    doc: 'Embedding model: adds search by meaning to search by words.',
    shown: 'none: search by words only',
    parse: (text) => text,
  }),
  embeddingsBaseUrl: optionalSetting({
    env: 'KEYHOOK_EMBEDDINGS_BASE_URL',
    doc: "Base URL of the embedding model with OpenAI's API.",
    shown: 'KEYHOOK_LLM_BASE_URL',
    parse: parseModelUrl,
  }),
  embeddingsApiKey: optionalSetting({
    env: 'KEYHOOK_EMBEDDINGS_API_KEY',
    doc: 'Bearer token for that server.',
    shown: 'KEYHOOK_LLM_API_KEY, where it is the same server',
    secret: true,
    parse: parseModelKey,
  }),
} as const
