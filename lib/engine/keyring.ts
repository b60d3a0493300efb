import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { kernelError } from '../errors.ts'
import { concat, fromBase64, fromUtf8, toBase64, utf8 } from '../internal/bytes.ts'

/** Encrypts secrets at rest under master keys: AES-256-GCM with the row's identity as associated data. */
export interface Keyring {
  /** Ids of the master keys; the first one encrypts. */
  readonly ids: readonly string[]
  /** @param associatedData such as `webhook_secret|<id>`; decryption with any other fails */
  encrypt(plain: string, associatedData: string): string
  /** @throws KeyhookError `secret_unreadable` */
  decrypt(encrypted: string, associatedData: string): string
  /** A keyed fingerprint (HMAC-SHA256) of a text: without the master key nobody can test guesses. */
  fingerprint(text: string): string
  /**
   * Whether a fingerprint matches a text, under any of the master keys.
   *
   * @throws KeyhookError `secret_unreadable` when the key of the fingerprint is missing
   */
  matches(text: string, fingerprint: string): boolean
}

export interface MasterKey {
  readonly id: string
  readonly key: Uint8Array
}

/** Prefix of ciphertexts and fingerprints; the id of the master key follows. */
const VERSION = 'v1'
const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Parses master keys, `id:base64[,id:base64]`; the first one encrypts.
 *
 * @example
 * parseMasterKeys('k1:' + Buffer.alloc(32, 7).toString('base64'))
 * @throws TypeError naming the position of a malformed element, never its value
 */
export function parseMasterKeys(text: string): readonly MasterKey[] {
  const keys = text.split(',').map((element, index) => {
    const [, id, encoded] = /^\s*([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)\s*$/.exec(element) ?? []
    const key = encoded === undefined ? undefined : fromBase64(encoded)
    if (id === undefined || key?.length !== 32) {
      throw new TypeError(`master key ${index + 1} must be id:base64 of 32 bytes`)
    }
    return { id, key }
  })
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) {
    throw new TypeError('master keys must have different ids')
  }
  return keys
}

/**
 * Creates a keyring: the first master key encrypts, all decrypt.
 *
 * @param random source of nonces
 * @throws TypeError without a master key
 * @example
 * const keyring = createKeyring(parseMasterKeys(process.env.KEYHOOK_MASTER_KEY), randomBytes)
 * keyring.decrypt(keyring.encrypt('whsec_…', 'webhook_secret|1'), 'webhook_secret|1') // 'whsec_…'
 */
export function createKeyring(
  keys: readonly MasterKey[],
  random: (length: number) => Uint8Array,
): Keyring {
  const [current] = keys
  if (current === undefined) throw new TypeError('a keyring needs a master key')
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  // Derived keys: one key must not serve two algorithms. The label is part of stored fingerprints.
  const fingerprintKeys = new Map(
    keys.map(({ id, key }) => [id, createHmac('sha256', key).update('keyhook mark').digest()]),
  )

  function fingerprintUnder(id: string, text: string): string {
    const key = fingerprintKeys.get(id)
    if (key === undefined)
      throw kernelError('secret_unreadable', { internal: `no master key ${id}` })
    return `${VERSION}.${id}.${createHmac('sha256', key).update(text).digest('hex')}`
  }

  return {
    ids: keys.map(({ id }) => id),
    encrypt(plain, associatedData) {
      const nonce = random(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, current.key, nonce).setAAD(utf8(associatedData))
      const encrypted = [nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return `${VERSION}.${current.id}.${toBase64(concat(encrypted))}`
    },
    decrypt(encrypted, associatedData) {
      const [version, id = '', encoded = '', ...more] = encrypted.split('.')
      const key = byId.get(id)
      const bytes = fromBase64(encoded)
      if (version !== VERSION || key === undefined || bytes === undefined || more.length > 0) {
        throw kernelError('secret_unreadable', { internal: `no master key ${id}` })
      }
      try {
        return fromUtf8(decrypt(key, bytes, associatedData))
      } catch (cause) {
        throw kernelError('secret_unreadable', {
          cause,
          internal: `associated data ${associatedData}`,
        })
      }
    },
    fingerprint: (text) => fingerprintUnder(current.id, text),
    matches: (text, fingerprint) => fingerprintUnder(keyIdOf(fingerprint), text) === fingerprint,
  }
}

/** The id of the master key of a ciphertext or a fingerprint; empty for any other text. */
export function keyIdOf(text: string): string {
  return text.split('.', 2)[1] ?? ''
}

function decrypt(key: Uint8Array, bytes: Uint8Array, associatedData: string): Uint8Array {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const tag = bytes.subarray(bytes.length - TAG_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(utf8(associatedData))
    .setAuthTag(tag)
  const plain = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES))
  return concat([plain, decipher.final()])
}
