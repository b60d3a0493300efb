import { z } from 'zod'
import { MAX_CHUNK_CHARACTERS } from '../../../../plugins/files/contract.ts'
import { operation } from '../../../operations/operation.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { anyText, text } from '../../wire.ts'
import { SEARCH_MODES, findPassages } from '../../passages.ts'
import { exampleFile } from '../schema.ts'

const DEFAULT_LIMIT = 10

const passage = z
  .strictObject({
    file_id: z.string(),
    name: z.string(),
    ordinal: z.int().meta({ description: 'Index of the passage in its file, from 0.' }),
    text: z.string(),
    heading: z.string().nullable().meta({ description: 'Headings above the passage.' }),
    page: z
      .int()
      .nullable()
      .meta({ description: 'Page, from 1; null for documents without pages.' }),
    start: z.int().meta({ description: 'Start offset in the extracted text.' }),
    end: z.int(),
    score: z.number().meta({ description: 'Score by rank: 1, 1/2, 1/3, …' }),
  })
  .meta({ id: 'Passage' })

export const searchFiles = operation({
  effect: 'read',
  id: 'files.search',
  summary: 'Search the knowledge files of an app for passages',
  method: 'POST',
  path: '/v1/apps/{app_id}/files/search',
  access: { scope: 'files:read', pinned: 'allowed' },
  agent: {
    toolset: 'files',
    default: true,
    skill: {
      name: "Answer from an app's knowledge",
      tags: ['knowledge', 'files', 'search'],
      examples: ['When is the shop open on Saturdays?'],
      text: 'query',
    },
  },
  emits: ['files'],
  input: {
    params: appParams,
    body: z.strictObject({
      query: text(1000).meta({ description: 'Search query.', example: 'opening hours' }),
      limit: z
        .int()
        .min(1)
        .max(50)
        .optional()
        .meta({ description: 'Maximum passages: 1 to 50. Default 10.' }),
      files: z
        .array(anyText(100).min(1))
        .min(1)
        .max(100)
        .optional()
        .meta({ description: 'Files to search. Default: all.' }),
    }),
  },
  output: z.strictObject({
    mode: z.enum(SEARCH_MODES).meta({
      description: 'lexical: by words; fused: by words and meaning, with embeddings.',
    }),
    data: z.array(passage),
  }),
  errors: ['app_not_found'],
  example: {
    params: { app_id: exampleFile.app_id },
    body: { query: 'opening hours', limit: 5 },
    response: {
      mode: 'lexical',
      data: [
        {
          file_id: exampleFile.id,
          name: exampleFile.name,
          ordinal: 3,
          text: 'We are open from nine to six, on Saturdays until two.',
          heading: 'Visit us > Opening hours',
          page: 2,
          start: 2_104,
          end: 2_157,
          score: 1,
        },
      ],
    },
  },
  command: 'file search <query>',
  async run({ platform, principal, params, body, reserve, abandoned }) {
    const app = await findApp(platform.store.apps, principal, params.app_id)
    const limit = body.limit ?? DEFAULT_LIMIT
    reserve(limit * MAX_CHUNK_CHARACTERS)
    const search = { app_id: app.id, query: body.query, limit, files: body.files ?? null }
    const turn = { holder: app.account_id, signal: abandoned() }
    const { mode, passages } = await findPassages(platform, search, turn)
    // The score of a store may depend on words of other accounts, so it is not returned.
    return { mode, data: passages.map((found, index) => ({ ...found, score: 1 / (index + 1) })) }
  },
})
