import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { kernelError } from '../errors.ts'
import { concat, fromBase64, fromUtf8, toBase64, utf8 } from '../internal/bytes.ts'

/** Seals secrets at rest under master keys: AES-256-GCM, bound to the row they belong to. */
export interface Keyring {
  /** The ids of its master keys, the one that seals first. */
  readonly ids: readonly string[]
  /** @param place what the ciphertext is bound to, such as `webhook_secrets|<id>`; it opens nowhere else */
  seal(plain: string, place: string): string
  /** @throws KeyhookError `secret_unreadable` */
  open(sealed: string, place: string): string
  /** A mark of a text that may hold a guessable secret: nobody without the master key can try guesses. */
  mark(text: string): string
  /**
   * Whether a mark is this text's, whichever of the master keys it was made under.
   *
   * @throws KeyhookError `secret_unreadable` when that key is not here, so that nobody can know
   */
  matches(text: string, mark: string): boolean
}

export interface MasterKey {
  readonly id: string
  readonly key: Uint8Array
}

/** Begins what is sealed or marked; the id of the master key comes next. */
const VERSION = 'v1'
const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Reads master keys, the one that encrypts first.
 *
 * @example
 * parseMasterKeys('k1:' + Buffer.alloc(32, 7).toString('base64'))
 * @throws TypeError naming the element that is malformed, never its value
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
 * A keyring over master keys; the first encrypts, all decrypt.
 *
 * @param random the source of nonces
 */
export function createKeyring(
  keys: readonly MasterKey[],
  random: (length: number) => Uint8Array,
): Keyring {
  const [current] = keys
  if (current === undefined) throw new TypeError('a keyring needs a master key')
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  // A key of its own, since one key must not serve two algorithms.
  const markKeys = new Map(
    keys.map(({ id, key }) => [id, createHmac('sha256', key).update('keyhook mark').digest()]),
  )

  function markUnder(id: string, text: string): string {
    const key = markKeys.get(id)
    if (key === undefined)
      throw kernelError('secret_unreadable', { internal: `no master key ${id}` })
    return `${VERSION}.${id}.${createHmac('sha256', key).update(text).digest('hex')}`
  }

  return {
    ids: keys.map(({ id }) => id),
    seal(plain, place) {
      const nonce = random(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, current.key, nonce).setAAD(utf8(place))
      const sealed = [nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return `${VERSION}.${current.id}.${toBase64(concat(sealed))}`
    },
    open(sealed, place) {
      const [version, id = '', encoded = '', ...more] = sealed.split('.')
      const key = byId.get(id)
      const bytes = fromBase64(encoded)
      if (version !== VERSION || key === undefined || bytes === undefined || more.length > 0) {
        throw kernelError('secret_unreadable', { internal: `no master key ${id}` })
      }
      try {
        return fromUtf8(decrypt(key, bytes, place))
      } catch (cause) {
        throw kernelError('secret_unreadable', { cause, internal: `sealed for ${place}` })
      }
    },
    mark: (text) => markUnder(current.id, text),
    matches: (text, mark) => markUnder(keyIdOf(mark), text) === mark,
  }
}

/** The id of the master key that a text was sealed or marked under. */
export function keyIdOf(text: string): string {
  return text.split('.', 2)[1] ?? ''
}

function decrypt(key: Uint8Array, bytes: Uint8Array, place: string): Uint8Array {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const tag = bytes.subarray(bytes.length - TAG_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(utf8(place))
    .setAuthTag(tag)
  const plain = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES))
  return concat([plain, decipher.final()])
}
