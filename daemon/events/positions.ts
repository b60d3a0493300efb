import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto'
import { utf8 } from '../../lib/internal/bytes.ts'
import type { RandomBytes } from '../../lib/engine/ports.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type { EventReads } from '../../plugins/store/contract/events.ts'

/**
 * Positions in the feed of events, as accounts see them.
 *
 * A cursor of the store counts the events of all accounts. A position is the cursor encrypted for one
 * account: the same cursor always gives the same position, and positions reveal neither order nor distance.
 */
export interface EventPositions {
  print(accountId: string, cursor: string): string
  /**
   * Decrypts a position, which may be forged.
   *
   * An unencrypted cursor of an earlier release is accepted up to the last one that was issued.
   *
   * @returns undefined for a position that was not issued to this account
   */
  read(accountId: string, position: string): string | undefined
}

const META_NAME = 'event_positions'
const PREFIX = 'pos_'
const SECRET_BYTES = 32
const KEY_BYTES = 32
const TAG_BYTES = 16
/** A multiple of the longest cursor of all built-in stores, so that the length reveals nothing. */
const BLOCK_BYTES = 48

/** Reads the encryption key of positions; the first process of a database creates it. */
export async function openEventPositions(
  store: Store,
  random: RandomBytes,
): Promise<EventPositions> {
  const kept = (await store.accounts.meta(META_NAME)) ?? (await keep(store, random))
  const [secret = '', lastPlain = ''] = kept.split('.', 2)
  return createEventPositions(Buffer.from(secret, 'base64url'), lastPlain, store.events)
}

async function keep(store: Store, random: RandomBytes): Promise<string> {
  const secret = Buffer.from(random(SECRET_BYTES)).toString('base64url')
  const value = `${secret}.${await store.events.lastCursor()}`
  // Processes that start together all use the key that the first one stores.
  return store.write((tx) => tx.accounts.putMetaOnce(META_NAME, value))
}

/**
 * A synthetic IV as in RFC 5297: an HMAC of account and cursor is both the tag and the IV of AES-256-CTR.
 *
 * @param lastPlain the last cursor that was issued unencrypted
 */
function createEventPositions(
  secret: Uint8Array,
  lastPlain: string,
  events: Pick<EventReads, 'isCursor'>,
): EventPositions {
  const keys = hkdfSync('sha256', secret, '', 'keyhook event positions', 2 * KEY_BYTES)
  const macKey = new Uint8Array(keys, 0, KEY_BYTES)
  const cipherKey = new Uint8Array(keys, KEY_BYTES)

  const tagOf = (accountId: string, padded: Uint8Array): Buffer =>
    createHmac('sha256', macKey)
      .update(`${accountId}\n`)
      .update(padded)
      .digest()
      .subarray(0, TAG_BYTES)

  function open(accountId: string, encoded: string): string | undefined {
    const bytes = Buffer.from(encoded, 'base64url')
    if (bytes.toString('base64url') !== encoded || bytes.length < TAG_BYTES) return undefined
    const tag = bytes.subarray(0, TAG_BYTES)
    const padded = createDecipheriv('aes-256-ctr', cipherKey, tag).update(bytes.subarray(TAG_BYTES))
    if (!timingSafeEqual(tag, tagOf(accountId, padded))) return undefined
    return padded.toString().replace(/\0+$/, '')
  }

  return {
    print(accountId, cursor) {
      const blocks = Math.ceil(cursor.length / BLOCK_BYTES)
      const padded = utf8(cursor.padEnd(blocks * BLOCK_BYTES, '\0'))
      const tag = tagOf(accountId, padded)
      const ciphertext = createCipheriv('aes-256-ctr', cipherKey, tag).update(padded)
      return PREFIX + Buffer.concat([tag, ciphertext]).toString('base64url')
    },
    read(accountId, position) {
      if (position.startsWith(PREFIX)) return open(accountId, position.slice(PREFIX.length))
      // If any number were accepted, guesses would find the cursors of events, and with them their
      // counts.
      return events.isCursor(position, lastPlain) ? position : undefined
    },
  }
}
