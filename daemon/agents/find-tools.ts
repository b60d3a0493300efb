import type { ToolSpec } from './tools.ts'

/** Letters below which a word is too common to count. */
const SHORT = 3
/** Points of a word that occurs in a part of a tool. */
const POINTS = { name: 4, title: 2, text: 1 } as const

/** A tool that a search found. */
export interface FoundTool {
  readonly tool: ToolSpec
  /** How many of the words it has. */
  readonly matches: number
}

/**
 * The tools that have any of the words, those with most of them first.
 *
 * @param words any text: what is no letter and no digit separates words, and short words do not count
 */
export function findTools(tools: readonly ToolSpec[], words: string): readonly FoundTool[] {
  const wanted = [...new Set(wordsOf(words))].filter((word) => word.length >= SHORT)
  return tools
    .map((tool) => ({ tool, ...rankOf(tool, wanted) }))
    .filter(({ matches }) => matches > 0)
    .toSorted((a, b) => b.matches - a.matches || b.points - a.points)
}

type Words = Readonly<Record<keyof typeof POINTS, readonly string[]>>

/** The words of tools that were searched. */
const known = new WeakMap<ToolSpec, Words>()

function indexOf(tool: ToolSpec): Words {
  const found = known.get(tool)
  if (found !== undefined) return found
  const { listed, operation, args } = tool
  const names = args.map((one) => one.name)
  const words = {
    name: wordsOf(listed.name),
    title: wordsOf(listed.title),
    text: wordsOf([listed.description, operation.path, ...names].join(' ')),
  }
  known.set(tool, words)
  return words
}

function rankOf(
  tool: ToolSpec,
  wanted: readonly string[],
): { readonly matches: number; readonly points: number } {
  const { name, title, text } = indexOf(tool)
  const points = wanted.map(
    (word) =>
      (has(name, word) ? POINTS.name : 0) +
      (has(title, word) ? POINTS.title : 0) +
      (has(text, word) ? POINTS.text : 0),
  )
  return {
    matches: points.filter((one) => one > 0).length,
    points: points.reduce((sum, one) => sum + one, 0),
  }
}

function has(words: readonly string[], wanted: string): boolean {
  return words.some((word) => word.startsWith(wanted))
}

/** Lower case, without the `s` of a plural. */
function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word))
}
