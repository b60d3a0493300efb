import { randomUUID } from 'node:crypto'

/** Prefix of a string that stands for a stored text; nobody outside can guess it. */
const PLACEHOLDER = `json-text-${randomUUID()}:`
const PLACEHOLDERS = new RegExp(`"${PLACEHOLDER}(\\d+)"`, 'g')

/** Stored texts of the value that `printJson` is printing, in the order of their placeholders. */
let keptTexts: string[] = []

/**
 * An object as the JSON text that was stored for it, which `printJson` prints byte for byte: printing a
 * parsed value rounds long numbers and reorders integer-like keys. The object has no readable members.
 */
export function jsonText(text: string): Readonly<Record<string, unknown>> {
  return { toJSON: () => `${PLACEHOLDER}${keptTexts.push(text) - 1}` }
}

const texts = new WeakMap<object, string>()

/** Caches the printed form of a value. The value must not change afterwards. */
export function printedAs<T extends object>(value: T, text: string): T {
  texts.set(value, text)
  return value
}

/**
 * Prints like `JSON.stringify`, and stored texts unchanged.
 *
 * @example
 * printJson({ data: jsonText('{"n":12345678901234567890}') }) // '{"data":{"n":12345678901234567890}}'
 */
export function printJson(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? texts.get(value) : undefined
  if (known !== undefined) return known
  keptTexts = []
  // The stored texts are inserted afterwards: they may have megabytes, and would be escaped and
  // searched.
  const printed = JSON.stringify(value)
  const kept = keptTexts
  keptTexts = []
  return kept.length === 0
    ? printed
    : printed.replaceAll(PLACEHOLDERS, (_, n) => kept[Number(n)] ?? '')
}

/** Control characters with a short escape, quote and backslash. */
const ESCAPED_SHORT = new Set(Buffer.from('\b\t\n\f\r"\\'))
/** Printed bytes of each byte of UTF-8 text in JSON. */
const PRINTED = Uint8Array.from({ length: 256 }, (_, byte) =>
  ESCAPED_SHORT.has(byte) ? 2 : byte < 0x20 ? 6 : 1,
)

/**
 * Bytes of a UTF-8 text printed as JSON, without quotes.
 *
 * @example
 * printedBytes(Buffer.from('a\n\0')) // 9
 */
export function printedBytes(text: Uint8Array): number {
  let size = 0
  for (const byte of text) size += PRINTED[byte] ?? 0
  return size
}
