import { z } from 'zod'
import { MAX_CHUNK_CHARACTERS } from '../../../../plugins/files/contract.ts'
import { readOperation } from '../../../operations/family.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { plainText, text } from '../../wire.ts'
import { SEARCH_MODES, findPassages } from '../../passages.ts'
import { exampleFile } from '../schema.ts'

const DEFAULT_LIMIT = 10

const passage = z
  .strictObject({
    file_id: z.string(),
    name: z.string(),
    ordinal: z.int().meta({ description: 'Which of the file’s passages, from 0.' }),
    text: z.string(),
    heading: z.string().nullable().meta({ description: 'The headings above it.' }),
    page: z.int().nullable().meta({ description: 'From 1, where the document has pages.' }),
    start: z.int().meta({ description: 'Where it begins in the extracted text.' }),
    end: z.int(),
    score: z.number().meta({ description: '1 for the best, then a half, a third, and so on.' }),
  })
  .meta({ id: 'Passage' })

export const searchFiles = readOperation({
  id: 'files.search',
  summary: 'Find passages in the knowledge of an app',
  method: 'POST',
  path: '/v1/apps/{app_id}/files/search',
  access: { scope: 'files:read', pinned: 'allowed' },
  emits: ['files'],
  input: {
    params: appParams,
    body: z.strictObject({
      query: text(1000).meta({ description: 'Words to look for.', example: 'opening hours' }),
      limit: z.int().min(1).max(50).optional().meta({ description: 'Default 10.' }),
      files: z
        .array(plainText)
        .min(1)
        .max(100)
        .optional()
        .meta({ description: 'Only in these files.' }),
    }),
  },
  output: z.strictObject({
    mode: z.enum(SEARCH_MODES).meta({
      description:
        'lexical: found by words; fused: by words and meaning, where embeddings are set up.',
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
    // What a store goes by may tell of other accounts' words, so it is not told.
    return { mode, data: passages.map((one, index) => ({ ...one, score: 1 / (index + 1) })) }
  },
})
