import { unzipSync, zipSync } from 'fflate'
import { fileError } from '../contract.ts'
import type { ExtractLimits } from './command.ts'

const MAX_ENTRIES = 10_000
const GROWS_FREELY = 4 * 1024 * 1024
const XML = /(\.xml|\.rels)$/
const CONTENT_TYPES = '[Content_Types].xml'
const ENCRYPTED_PACKAGE = Buffer.from('EncryptedPackage', 'utf16le')

/**
 * Repacks the XML of an Office document without compression, so that a library inflates nothing unchecked: the
 * directory is checked before the first byte is inflated, and an entry never becomes larger than the directory
 * says.
 *
 * @param main what the content types of such a document name
 */
export function repackOffice(bytes: Uint8Array, main: RegExp, limits: ExtractLimits): Buffer {
  if (bytes[0] === 0xd0) {
    throw fileError(Buffer.from(bytes).includes(ENCRYPTED_PACKAGE) ? 'encrypted' : 'wrong_type')
  }
  const entries = inflate(bytes, limits)
  const types = entries[CONTENT_TYPES]
  if (types === undefined || !main.test(Buffer.from(types).toString())) {
    throw fileError('wrong_type')
  }
  for (const [name, content] of Object.entries(entries)) refuseDefinitions(name, content)
  return Buffer.from(zipSync(entries, { level: 0 }))
}

function inflate(bytes: Uint8Array, limits: ExtractLimits): Record<string, Uint8Array> {
  let entries = 0
  let total = 0
  return unzipSync(bytes, {
    filter({ name, size, originalSize }) {
      total += originalSize
      const grown = originalSize > GROWS_FREELY && originalSize / size > limits.ratio
      if (++entries > MAX_ENTRIES || total > limits.inflated || grown) {
        throw fileError('too_large_inside', { internal: `${name}: ${size} to ${originalSize}` })
      }
      return XML.test(name)
    },
  })
}

/** Office documents have no DTD: one is there to define entities that grow, or lead outside. */
function refuseDefinitions(name: string, content: Uint8Array): void {
  const xml = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (xml.includes('<!DOCTYPE')) throw fileError('damaged', { internal: `${name}: a DTD` })
}
