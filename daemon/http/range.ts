import type { ByteRange } from '../../plugins/apps/contract.ts'

/** One range of bytes, RFC 9110, 14.1.2; names of units have no case. */
const ONE = /^bytes=[\t ]*(\d*)-(\d*)[\t ]*$/i

/**
 * The part of a file that a `Range` asks for; undefined for all of it, as for several ranges, another
 * unit, or what is no range at all (RFC 9110, 14.2).
 */
export function readRange(header: string, size: number): ByteRange | 'beyond' | undefined {
  const [, first = '', last = ''] = ONE.exec(header) ?? []
  if (first === '' && last === '') return undefined
  if (first === '') return readSuffix(Number(last), size)
  const start = Number(first)
  const end = last === '' ? size : Math.min(Number(last) + 1, size)
  if (last !== '' && Number(last) < start) return undefined
  return start < size ? { start, end } : 'beyond'
}

/** The last bytes, or all where there are fewer; of a file without any there is no part to name. */
function readSuffix(length: number, size: number): ByteRange | 'beyond' | undefined {
  if (length === 0) return 'beyond'
  return size === 0 ? undefined : { start: Math.max(0, size - length), end: size }
}

/** Whether one of the tags of an `If-None-Match` is this one, by weak comparison. */
export function namesTag(header: string, tag: string): boolean {
  const tags = header.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return tags.includes(tag) || tags.includes('*')
}
