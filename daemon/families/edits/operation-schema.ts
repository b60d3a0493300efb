import { z } from 'zod'
import { fault } from '../../operations/faults.ts'
import { PATH_SCHEMA } from '../apps/path.ts'
import { NUL, anyText, exactlyOne, text } from '../wire.ts'
import type { GivenOperation } from './apply.ts'

/** Bytes of the largest body: one file of the largest size in base64, and some more beside it. */
export const EDIT_BODY_LIMIT = 16 * 1_048_576

const MAX_OPERATIONS = 500

/** RFC 4648, 4. A group that repeats overflows the stack from 4 MiB on: the length is checked apart. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const NOT_BASE64 = 'Must be base64, with its padding.'
/** Both checks in one, for the document. */
const BASE64_PATTERN = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'

const path = anyText(300).meta({ ...PATH_SCHEMA, example: 'about.html' })

export const prompt = text(32_768).meta({ description: 'What to change, in words.' })

/** The form of a model's name. */
export const MODEL_NAME = /^[A-Za-z0-9_.:/@+-]{1,100}$/

export const model = z
  .string()
  .regex(MODEL_NAME, 'A model is 1 to 100 letters, digits or _ . : / @ + -')
  .meta({
    description: 'One that the operator allows. Default: KEYHOOK_LLM_MODEL.',
  })

/** A file as it is given: its text, or its bytes in base64. */
export const fileContent = {
  path,
  content: anyText().optional(),
  content_base64: z
    .string()
    .regex(BASE64, { error: NOT_BASE64, abort: true })
    .refine((value) => value.length % 4 === 0, fault('invalid_format', NOT_BASE64))
    .meta({ pattern: BASE64_PATTERN })
    .optional()
    .meta({ description: 'In place of content, for what is no text.' }),
} as const

export interface GivenFile {
  readonly path: string
  readonly content?: string | undefined
  readonly content_base64?: string | undefined
}

export function hasOneContent({ content, content_base64 }: GivenFile): boolean {
  return (content === undefined) !== (content_base64 === undefined)
}

export const ONE_CONTENT = fault('exactly_one', 'Give one of content and content_base64.')

/** The one key whose values are known. */
const OBSERVE = { properties: { value: { enum: ['on', 'off', null] } } } as const

const operation = z
  .discriminatedUnion('op', [
    z
      .strictObject({ op: z.literal('write'), ...fileContent })
      .refine(hasOneContent, ONE_CONTENT)
      .meta(exactlyOne('content', 'content_base64')),
    z.strictObject({
      op: z.literal('patch'),
      path,
      search: anyText().meta({ description: 'Stands in the file exactly once.' }),
      replace: anyText().meta({ description: 'What stands there instead, to the letter.' }),
    }),
    z.strictObject({ op: z.literal('rename'), from: path, to: path }),
    z.strictObject({ op: z.literal('delete'), path }),
    z
      .strictObject({
        op: z.literal('set_config'),
        key: anyText(200).meta({ pattern: '^[A-Za-z0-9_.-]{1,100}$' }),
        value: anyText(10_000)
          .meta({ pattern: `^[^${NUL}]*$`, maxLength: 4000 })
          .nullable()
          .meta({ description: 'Null takes the key away.' }),
      })
      .meta({ anyOf: [{ properties: { key: { not: { const: 'observe' } } } }, OBSERVE] }),
  ])
  .meta({ id: 'EditOperation' })

export const operations = z
  .array(operation)
  .min(1)
  .max(MAX_OPERATIONS)
  .meta({ description: 'Applied in their order, each to what those before it left; all or none.' })

/** An operation as it is applied. */
export function toOperation(given: z.output<typeof operation>): GivenOperation {
  return given.op === 'write' ? toWrite(given) : given
}

/** A file as an operation that writes it. */
export function toWrite({ path, content, content_base64 }: GivenFile): GivenOperation {
  return content === undefined
    ? { op: 'write', path, bytes: Buffer.from(content_base64 ?? '', 'base64') }
    : { op: 'write', path, content }
}
