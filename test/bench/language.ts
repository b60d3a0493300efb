/** Choices that the same seed makes again: a whole number from 0 to `limit` - 1. */
export type Choose = (limit: number) => number

/** Fast, and good enough to make texts of. */
export function chooseFrom(seed: number): Choose {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit)
  }
}

/** Words of the language, the most frequent first. */
const WORDS = 50_000
const SYLLABLES = [
  'ba',
  'ce',
  'di',
  'fo',
  'gu',
  'ha',
  'je',
  'ki',
  'lo',
  'mu',
  'na',
  'pe',
  'ri',
  'so',
  'tu',
  'va',
]

function wordAt(rank: number): string {
  let word = ''
  for (let left = rank + SYLLABLES.length; left > 0; left = Math.floor(left / SYLLABLES.length)) {
    word += SYLLABLES[left % SYLLABLES.length] ?? ''
  }
  return word
}

/** A text whose words are as frequent as those of a real one: the n-th has the n-th part of the first's share. */
export function textOf(choose: Choose, words: number): string {
  const text = Array.from({ length: words }, () => {
    const part = choose(1_000_000) / 1_000_000
    return wordAt(Math.floor(WORDS ** part) - 1)
  })
  return text.join(' ')
}

/** How many words of which ranks a query has. */
export type QueryShape = readonly (readonly [words: number, from: number, to: number])[]

/** Each of the first is in a part of all passages of 100 words: in nearly all the first, a quarter the last. */
const COMMON = [0, 32] as const
/** Each is in a hundredth to a tenth of them. */
const MIDDLING = [100, 1000] as const
/** Each is in two to five of ten thousand. */
const RARE = [20_000, WORDS] as const

export const SHAPES = {
  '2 rare': [[2, ...RARE]],
  '5 mixed': [
    [1, ...COMMON],
    [2, ...MIDDLING],
    [2, ...RARE],
  ],
  '32 common': [[32, ...COMMON]],
} as const satisfies Readonly<Record<string, QueryShape>>

/** Words of these ranks, no two the same, in any order. */
export function queryOf(choose: Choose, shape: QueryShape): string {
  const ranks = new Set<number>()
  let wanted = 0
  for (const [words, from, to] of shape) {
    wanted += words
    while (ranks.size < wanted) ranks.add(from + choose(to - from))
  }
  return [...ranks].map(wordAt).join(' ')
}
