import { createHash, randomBytes } from 'node:crypto'

/** Random choices that the same seed makes again. */
export interface SeededRandom {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number
  /** True once in so many times. */
  oneIn(times: number): boolean
  pick<T>(list: readonly [T, ...T[]]): T
  /** Undefined for an empty list. */
  pickAny<T>(list: readonly T[]): T | undefined
  /** Some elements of a list, in its order: none, all, or any in between. */
  subset<T>(list: readonly T[]): T[]
}

/** The run's seed: `SEED` when it is set, else a new one. Print it, or a failure cannot be repeated. */
export function chooseSeed(): string {
  return process.env['SEED'] ?? randomBytes(6).toString('hex')
}

const WORD_BYTES = 4

export function createSeededRandom(seed: string): SeededRandom {
  let block = Buffer.alloc(0)
  let blocks = 0
  let at = 0

  function below(limit: number): number {
    if (at === block.length) {
      block = createHash('sha256').update(`${seed} ${blocks++}`).digest()
      at = 0
    }
    const word = block.readUInt32BE(at)
    at += WORD_BYTES
    return word % limit
  }

  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick: (list) => list[below(list.length)] ?? list[0],
    pickAny: (list) => (list.length === 0 ? undefined : list[below(list.length)]),
    subset: (list) => {
      const share = below(list.length + 1)
      return list.filter(() => below(list.length) < share)
    },
  }
}
