import { JsonError, locationOf, parseJson } from '../../../lib/internal/json.ts'
import { httpError } from '../../operations/errors.ts'
import type { FormInput, PartSpec } from '../../operations/parts.ts'
import { MAX_FILE_BYTES } from '../../trees/tree.ts'

/** Maximum bytes of a text part: more than any field allows. */
const MAX_TEXT = 131_072
const MAX_METADATA = 262_144

function textPart(description: string, least: 0 | 1 = 0, limit = MAX_TEXT): PartSpec {
  return { kind: 'text', description, least, most: 1, limit }
}

/** Form encoding of an app from a prompt and files. */
export const creationForm = {
  parts: {
    prompt: textPart('Prompt: the app to create.', 1),
    name: textPart('Default: how the prompt begins.'),
    alias: textPart('The name that its address begins with.'),
    model: textPart('Default: as the operator set it up.'),
    metadata: textPart('A JSON object of texts of your own.', 0, MAX_METADATA),
    files: {
      kind: 'file',
      alias: 'files[]',
      description:
        'Files that the prompt starts from, each at its filename as path; 10 MiB in all.',
      least: 0,
      most: 500,
      limit: MAX_FILE_BYTES,
      inAll: MAX_FILE_BYTES,
    },
  },
  toBody({ texts, files: { files } }) {
    const { metadata, ...plain } = texts
    return {
      ...plain,
      ...(metadata === undefined ? {} : { metadata: readMetadata(metadata) }),
      ...(files === undefined
        ? {}
        : {
            files: files.map(({ filename, bytes }) => ({
              path: filename,
              content_base64: Buffer.from(bytes).toString('base64'),
            })),
          }),
    }
  },
} as const satisfies FormInput

function readMetadata(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    const { code, message } = cause
    const location = locationOf(cause, 'body.metadata')
    throw httpError('invalid_request', { errors: [{ location, code, message }] })
  }
}
