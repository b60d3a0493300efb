import { hash } from 'node:crypto'

/**
 * The SHA-256 of a whole key value in lower-case hex: what is stored and looked up in its place.
 *
 * A fast hash is right here: a value carries 256 random bits, so there is nothing to guess.
 *
 * @example
 * hashToken('abc') // 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
 */
export function hashToken(value: string): string {
  return hash('sha256', value, 'hex')
}
