import type { ByteRange } from './contract.ts'

const APP_ID = /^[a-z0-9]{8,32}$/
const DIGEST = /^[0-9a-f]{64}$/

export function isAppId(value: unknown): value is string {
  return typeof value === 'string' && APP_ID.test(value)
}

/** @throws TypeError for what is no id of an app */
export function requireAppId(appId: string): void {
  if (!isAppId(appId)) throw new TypeError('the id of an app is 8 to 32 of a-z and 0-9')
}

/** @throws TypeError for what is no digest */
export function requireDigest(sha256: string): void {
  if (typeof sha256 !== 'string' || !DIGEST.test(sha256)) {
    throw new TypeError('a digest is 64 lower-case hex digits')
  }
}

/** @throws TypeError for what is no range */
export function requireRange(range: ByteRange | undefined): void {
  if (range === undefined) return
  const { start, end } = range
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || start > end) {
    throw new TypeError('a range is of integers from 0, start before end or equal')
  }
}

/** The part of so many bytes that a range covers. */
export function clip(range: ByteRange | undefined, size: number): ByteRange {
  if (range === undefined) return { start: 0, end: size }
  return { start: Math.min(range.start, size), end: Math.min(range.end, size) }
}
