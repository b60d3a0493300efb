// The reversed polynomial of ISO 3309 and ITU-T V.42, section 8.1.1.6.2.
const POLYNOMIAL = 0xedb88320

const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) {
    remainder = (remainder & 1) === 1 ? (remainder >>> 1) ^ POLYNOMIAL : remainder >>> 1
  }
  return remainder
})

/**
 * The CRC-32 of zip and PNG, as an unsigned 32-bit integer.
 *
 * @example
 * crc32(utf8('123456789')) // 0xcbf43926
 */
export function crc32(bytes: Uint8Array): number {
  let remainder = 0xffffffff
  // By index: an iterator takes twice as long, on every request.
  for (let at = 0; at < bytes.length; at++) {
    remainder = (REMAINDERS[(remainder ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (remainder >>> 8)
  }
  return ~remainder >>> 0
}
