import type { RandomBytes } from '../../../lib/engine/ports.ts'

const ID_LENGTH = 12
const PREVIEW_LENGTH = 24
/** 32 letters and digits, none of which is taken for another. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz0'
export const APP_ID: RegExp = new RegExp(`^[${ALPHABET}]{${ID_LENGTH}}$`)

function draw(random: RandomBytes, length: number): string {
  return Array.from(random(length), (byte) => ALPHABET[byte % 32]).join('')
}

/** 60 bits, so that nobody guesses one and none comes twice. */
export function createAppId(random: RandomBytes): string {
  return draw(random, ID_LENGTH)
}

/** Whether an app may have, have had or come to have this id, which begins its address as an alias does. */
export function isLikeAppId(text: string): boolean {
  return APP_ID.test(text)
}

/** 120 bits: whoever knows it sees what is not published. */
export function createPreview(random: RandomBytes): string {
  return draw(random, PREVIEW_LENGTH)
}
