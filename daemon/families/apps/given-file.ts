import { z } from 'zod'
import { fault } from '../../operations/faults.ts'
import type { GivenOperation } from '../../trees/apply.ts'
import { PATH_SCHEMA } from '../../trees/path.ts'
import { anyText } from '../wire.ts'

/** Maximum body in bytes: one file of the maximum size in base64, and more beside it. */
export const FILES_BODY_LIMIT = 16 * 1_048_576

/** RFC 4648, 4. A repeated group overflows the stack from 4 MiB on: the length is checked separately. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const NOT_BASE64 = 'Must be base64, with its padding.'
/** Both checks in one pattern, for the document. */
const BASE64_PATTERN = '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'

export const path = anyText(300).meta({ ...PATH_SCHEMA, example: 'about.html' })

/** Content of a file: text, or bytes in base64. */
export const fileContent = {
  path,
  content: anyText().optional(),
  content_base64: z
    .string()
    .regex(BASE64, { error: NOT_BASE64, abort: true })
    .refine((value) => value.length % 4 === 0, fault('invalid_format', NOT_BASE64))
    .meta({ pattern: BASE64_PATTERN })
    .optional()
    .meta({ description: 'Base64 in place of content, for binary files.' }),
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

/** A file as a write operation. */
export function toWrite({ path, content, content_base64 }: GivenFile): GivenOperation {
  return content === undefined
    ? { op: 'write', path, bytes: Buffer.from(content_base64 ?? '', 'base64') }
    : { op: 'write', path, content }
}
