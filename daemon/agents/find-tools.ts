import type { ToolSpec } from './tools.ts'

/** Points of a word that occurs in a part of a tool. */
const POINTS = { name: 4, title: 2, text: 1 } as const

/**
 * The tools that fit the words best, the best first; without words all of them, in their order.
 *
 * @param words any text: what is no letter and no digit separates words
 */
export function findTools(tools: readonly ToolSpec[], words: string): readonly ToolSpec[] {
  const wanted = [...new Set(wordsOf(words))]
  if (wanted.length === 0) return tools
  return tools
    .map((tool) => ({ tool, rank: rankOf(tool, wanted) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ tool }) => tool)
}

/** Each further word that occurs counts more than any place where one occurs. */
function rankOf({ listed, operation, args }: ToolSpec, wanted: readonly string[]): number {
  const name = wordsOf(listed.name)
  const title = wordsOf(listed.title)
  const text = [
    ...wordsOf(listed.description),
    ...wordsOf(operation.path),
    ...args.flatMap((one) => wordsOf(one.name)),
  ]
  let rank = 0
  for (const word of wanted) {
    const points =
      (has(name, word) ? POINTS.name : 0) +
      (has(title, word) ? POINTS.title : 0) +
      (has(text, word) ? POINTS.text : 0)
    rank += points === 0 ? 0 : 10 + points
  }
  return rank
}

function has(words: readonly string[], wanted: string): boolean {
  return words.some((word) => word.startsWith(wanted))
}

/** Lower case, without the `s` of a plural. */
function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word))
}
