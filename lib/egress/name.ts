import type { RefusalReason } from './refusals.ts'

export type NameRefusal = Extract<RefusalReason, `name_${string}`>

/** Top-level labels of no public host (RFC 6761, 6762, 7686, 8375 and 9476, and common private use). */
const SPECIAL_TOP_LABELS: ReadonlySet<string> = new Set([
  'alt',
  'arpa',
  'corp',
  'example',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localhost',
  'onion',
  'private',
  'test',
])

/**
 * Judges the form of a lower-case host name without a final dot; undefined when it is valid.
 *
 * @example
 * judgeLabels('a..b') // 'name_label'
 */
export function judgeLabels(host: string): NameRefusal | undefined {
  const labels = host.split('.')
  if (host.length > 253 || !labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label))) {
    return 'name_label'
  }
  // Some resolvers parse such a name as an address: "127.1", "0x7f.1".
  return /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '') ? 'name_numeric' : undefined
}

/**
 * Judges a lower-case host name without a final dot by its text alone; undefined when it may be resolved.
 *
 * @example
 * judgeName('printer.local') // 'name_special'
 */
export function judgeName(host: string): NameRefusal | undefined {
  const faulty = judgeLabels(host)
  if (faulty) return faulty
  const top = host.slice(host.lastIndexOf('.') + 1)
  if (SPECIAL_TOP_LABELS.has(top)) return 'name_special'
  return top === host ? 'name_single_label' : undefined
}
