import type { BinaryLike, ScryptOptions } from 'node:crypto'
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { RandomBytes } from '../../../lib/engine/ports.ts'
import type { Turn } from '../../queues/fair-queue.ts'
import { createFairQueue } from '../../queues/fair-queue.ts'
import { networkOf, widerNetworksOf } from '../../limits/network.ts'

/** Cost of one hash: 2^`ln` rounds over blocks of `r` × 128 bytes, `p` times. */
export interface ScryptCost {
  readonly ln: number
  readonly r: number
  readonly p: number
}

/** OWASP's parameters for scrypt: 128 MiB and about 0.3 s per hash. */
const DEFAULT_COST: ScryptCost = { ln: 17, r: 8, p: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32

/** Concurrent hashes: each holds 128 MiB and one of the four threads that DNS and files need too. */
const AT_ONCE = 2
/** Maximum waiting hashes; the last of them waits about 15 s. */
const WAITING = 100
/** Turn of a caller inside the process. */
const NO_NETWORK: Turn = { holder: '' }

/**
 * Hashes and checks passwords, a few at once; networks take turns. Passwords are equal in any normal form.
 */
export interface Passwords {
  /**
   * @returns `$scrypt$ln=17,r=8,p=1$salt$hash`, salt and hash in base64 without padding
   * @throws KeyhookError `rate_limited` when too many wait
   */
  hash(password: string, turn?: Turn): Promise<string>
  /**
   * Takes the same time without a user to check against.
   *
   * @param kept result of `hash`; undefined for a user that does not exist
   * @throws KeyhookError `rate_limited` when too many wait
   */
  check(password: string, kept: string | undefined, turn?: Turn): Promise<PasswordCheck>
}

/**
 * The turn of a caller's network. Nothing is queued by email address: otherwise guesses from elsewhere
 * would run before the owner.
 */
export function turnOfNetwork(ip: string): Turn {
  return { holder: networkOf(ip), within: widerNetworksOf(ip) }
}

export interface PasswordCheck {
  readonly matches: boolean
  /** It was hashed at another cost: hash it again while the password is at hand. */
  readonly outdated: boolean
}

/**
 * @param options.cost default N = 2^17, r = 8, p = 1
 * @param options.random where salts come from; default the system's
 * @example
 * const passwords = createPasswords()
 * const kept = await passwords.hash('correct horse battery')
 * await passwords.check('correct horse battery', kept) // { matches: true, outdated: false }
 */
export function createPasswords(
  options: { readonly cost?: ScryptCost; readonly random?: RandomBytes } = {},
): Passwords {
  const cost = options.cost ?? DEFAULT_COST
  const random = options.random ?? randomBytes
  const queue = createFairQueue({ atOnce: AT_ONCE, waiting: WAITING })
  const nobody: KeptHash = { cost, salt: random(SALT_BYTES), hash: random(HASH_BYTES) }

  return {
    async hash(password, turn = NO_NETWORK) {
      const salt = random(SALT_BYTES)
      return print({ cost, salt, hash: await queue(turn, () => derive(password, salt, cost)) })
    },
    async check(password, kept, turn = NO_NETWORK) {
      const known = kept === undefined ? undefined : parse(kept)
      const against = known ?? nobody
      const hash = await queue(turn, () => derive(password, against.salt, against.cost))
      const equal = timingSafeEqual(hash, against.hash)
      return { matches: equal && known !== undefined, outdated: !isSameCost(against.cost, cost) }
    },
  }
}

interface KeptHash {
  readonly cost: ScryptCost
  readonly salt: Uint8Array
  readonly hash: Uint8Array
}

function derive(password: string, salt: BinaryLike, { ln, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** ln
  // Node refuses by default what needs more than 32 MiB; scrypt itself needs 128 · N · r bytes.
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r * p }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, HASH_BYTES, options, (error, hash) => {
      if (error === null) resolve(hash)
      else reject(error)
    })
  })
}

function print({ cost: { ln, r, p }, salt, hash }: KeptHash): string {
  return `$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '')
}

const PRINTED =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]{43})$/

/** Undefined for anything that `print` did not print: no password matches it. */
function parse(kept: string): KeptHash | undefined {
  const [, ln, r, p, salt, hash] = PRINTED.exec(kept) ?? []
  if (salt === undefined || hash === undefined) return undefined
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

function isSameCost(a: ScryptCost, b: ScryptCost): boolean {
  return a.ln === b.ln && a.r === b.r && a.p === b.p
}
