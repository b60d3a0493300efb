import type { RandomBytes } from '../../../lib/engine/ports.ts'

const ID_LENGTH = 12
const PREVIEW_LENGTH = 24
/** 32 letters and digits without look-alikes. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz0'
export const APP_ID: RegExp = new RegExp(`^[${ALPHABET}]{${ID_LENGTH}}$`)

function draw(random: RandomBytes, length: number): string {
  return Array.from(random(length), (byte) => ALPHABET[byte % 32]).join('')
}

/** 60 bits, so that ids cannot be guessed and do not repeat. */
export function createAppId(random: RandomBytes): string {
  return draw(random, ID_LENGTH)
}

/**
 * Whether an id of an app, past or future, may look like this; it begins the app's address, like an alias.
 */
export function isLikeAppId(text: string): boolean {
  return APP_ID.test(text)
}

/** 120 bits: the name gives access to unpublished files. */
export function createPreview(random: RandomBytes): string {
  return draw(random, PREVIEW_LENGTH)
}
