import { randomUUID } from 'node:crypto'

/** Begins a string that stands for a kept text; nobody outside can know it. */
const PLACEHOLDER = `json-text-${randomUUID()}:`
const PLACEHOLDERS = new RegExp(`"${PLACEHOLDER}(\\d+)"`, 'g')

/** Kept texts of the value that `printJson` is printing, in the order of their marks. */
let keptTexts: string[] = []

/**
 * An object as the JSON text that was kept of it, which `printJson` prints to the byte: printing anew what
 * was parsed rounds long numbers and reorders integer-like keys. There is nothing to read in it.
 */
export function jsonText(text: string): Readonly<Record<string, unknown>> {
  return { toJSON: () => `${PLACEHOLDER}${keptTexts.push(text) - 1}` }
}

const texts = new WeakMap<object, string>()

/** Remembers how a value prints, so that it is not printed twice. The value must not change afterwards. */
export function printedAs<T extends object>(value: T, text: string): T {
  texts.set(value, text)
  return value
}

/**
 * Prints as `JSON.stringify` does, and texts that were kept as they are.
 *
 * @example
 * printJson({ data: jsonText('{"n":12345678901234567890}') }) // '{"data":{"n":12345678901234567890}}'
 */
export function printJson(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? texts.get(value) : undefined
  if (known !== undefined) return known
  keptTexts = []
  // The kept texts stay out of what is printed: they may be megabytes, and would be escaped and searched.
  const printed = JSON.stringify(value)
  const kept = keptTexts
  keptTexts = []
  return kept.length === 0
    ? printed
    : printed.replaceAll(PLACEHOLDERS, (_, n) => kept[Number(n)] ?? '')
}

/** Control characters that have a short escape, quote and backslash. */
const ESCAPED_SHORT = new Set(Buffer.from('\b\t\n\f\r"\\'))
/** Bytes that each byte of UTF-8 text takes once it is printed as JSON. */
const PRINTED = Uint8Array.from({ length: 256 }, (_, byte) =>
  ESCAPED_SHORT.has(byte) ? 2 : byte < 0x20 ? 6 : 1,
)

/**
 * Bytes of a UTF-8 text printed as JSON, without its quotes.
 *
 * @example
 * printedBytes(Buffer.from('a\n\0')) // 9
 */
export function printedBytes(text: Uint8Array): number {
  let size = 0
  for (const byte of text) size += PRINTED[byte] ?? 0
  return size
}
