import { z } from 'zod'
import { IDENTIFIERS, defineEvents } from '../../events/types.ts'
import { fileRecord } from './schema.ts'

const FILE = {
  app_id: 'k3v9q2m7x4ta',
  file_id: '01890a5d-ac96-774b-bcce-b302099a8057',
}

const file = { app_id: z.string(), file_id: z.string() }
const { chunks, error } = fileRecord.shape

/** What files tell of themselves: each processing ends once, and exactly one of these tells of it. */
export const fileEvents = defineEvents([
  {
    type: 'file.processed',
    scope: IDENTIFIERS,
    description: 'A knowledge file was processed and is found by search.',
    schema: z.strictObject({
      ...file,
      chunks: chunks.unwrap().meta({ description: 'Number of passages.' }),
      charged_micros: z.int(),
    }),
    sample: { ...FILE, chunks: 12, charged_micros: 0 },
  },
  {
    type: 'file.failed',
    scope: IDENTIFIERS,
    description: 'A knowledge file could not be processed.',
    schema: z.strictObject({ ...file, error: error.unwrap() }),
    sample: {
      ...FILE,
      error: {
        code: 'no_text',
        message:
          'The file has no text that can be read. Run text recognition on a scanned document first.',
      },
    },
  },
])
