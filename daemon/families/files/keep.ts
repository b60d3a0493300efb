import { KeyhookError } from '../../../lib/errors.ts'
import type { FileProcessor } from '../../../plugins/files/contract.ts'
import { HEAD_BYTES, fileError } from '../../../plugins/files/contract.ts'
import type { FilePart } from '../../operations/parts.ts'
import { knowledgeError } from './errors.ts'
import type { FileQuota, Received } from './quota.ts'
import { MAX_FILE_BYTES } from './service.ts'

/** A received file: its bytes are stored if the quota allows, and not referenced yet. */
export interface KeptFile extends Received {
  readonly name: string
  readonly content_type: string
}

/**
 * Stores a file while it is received, after its first bytes show a known type.
 *
 * @throws KeyhookError that is `isOfFile` for an error of this file alone
 */
export async function keepFile(
  { filename, bytes }: FilePart,
  processor: FileProcessor,
  quota: FileQuota,
): Promise<KeptFile> {
  const name = cleanName(filename)
  if (name === undefined) throw knowledgeError('invalid_file_name')
  const source = bytes[Symbol.asyncIterator]()
  try {
    const head = await readHead(source)
    const content_type = sniff(processor, name, head)
    const taken = await quota.put(joined(head, source))
    return { name, content_type, ...taken }
  } catch (cause) {
    throw isTooLarge(cause) ? tooLarge() : cause
  } finally {
    await source.return?.()
  }
}

const OF_FILE: ReadonlySet<string> = new Set([
  'invalid_file_name',
  'file_too_large',
  'unsupported_media_type',
  'wrong_type',
  'empty_file',
])

/** Whether an error concerns one file of a request alone. */
export function isOfFile(cause: unknown): cause is KeyhookError {
  return cause instanceof KeyhookError && OF_FILE.has(cause.code)
}

/** The first bytes, enough to detect the type; all bytes of a smaller file. */
async function readHead(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const head: Uint8Array[] = []
  for (let length = 0; length < HEAD_BYTES;) {
    const next = await source.next()
    if (next.done === true) break
    head.push(next.value)
    length += next.value.length
  }
  return Buffer.concat(head)
}

const NOTHING = new Uint8Array()

function sniff(processor: FileProcessor, name: string, head: Uint8Array): string {
  if (head.length === 0) throw knowledgeError('empty_file')
  const type = processor.sniff(name, head)
  if (type !== undefined) return type
  // The name may stand for a type that the content does not have.
  const sniffed = processor.sniff(name, NOTHING)
  const isNamed = sniffed !== undefined && sniffed !== processor.sniff('a', NOTHING)
  throw isNamed ? knowledgeError('wrong_type') : unsupported(processor)
}

/** Names the types that the loaded readers know. */
function unsupported({ reads }: FileProcessor): KeyhookError {
  const labels = [...new Set(reads.map(({ label }) => label))]
  const last = labels.pop() ?? ''
  const all = labels.length === 0 ? last : `${labels.join(', ')} or ${last}`
  const message = `Files of this type cannot be read here. Send ${all}.`
  return fileError('unsupported_media_type', { message })
}

async function* joined(
  head: Uint8Array,
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    yield next.value
  }
}

function isTooLarge(cause: unknown): boolean {
  return (
    cause instanceof KeyhookError &&
    cause.code === 'payload_too_large' &&
    cause.details?.['part'] !== undefined
  )
}

function tooLarge(): KeyhookError {
  return knowledgeError('file_too_large', { details: { limit_bytes: MAX_FILE_BYTES } })
}

const MAX_BYTES = 255
/** Characters of a name before it is normalized. */
const LONGEST_GIVEN = 1024

/** C0, C1, lone surrogates, line ends, and characters that reorder text. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

/**
 * The shown name of a file, from the name in the request, without the folders that a browser's folder upload or
 * an old client puts before it. Undefined for an invalid name.
 *
 * @example
 * cleanName('C:\\notes\\hours.pdf') // 'hours.pdf'
 */
export function cleanName(given: string): string | undefined {
  const last = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1)
  // Normalizing some texts takes time quadratic in their length.
  if (last.length > LONGEST_GIVEN) return undefined
  const name = last.normalize('NFC').trim()
  const isNone = name === '' || name === '.' || name === '..'
  return isNone || UNSEEN.test(name) || Buffer.byteLength(name) > MAX_BYTES ? undefined : name
}
