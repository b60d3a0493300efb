import type { StructuredPatchHunk } from 'diff'
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'

/** The change of one text as a unified diff. */
export interface TextDiff {
  readonly text: string
  /** Lines that were added and removed. */
  readonly added: number
  readonly removed: number
}

/** Lines around a change. */
const CONTEXT = 3
/** Longer changes are shown as one text in place of the other: to compare them takes quadratic time. */
const MAX_COMPARED_LINES = 4_000
const MAX_EDIT_LENGTH = 500

/**
 * Compares two texts of a path, at most one of them undefined for a file that is not there.
 *
 * @example
 * diffTexts('a.txt', 'one\n', 'two\n').text // '--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n'
 */
export function diffTexts(
  path: string,
  before: string | undefined,
  after: string | undefined,
): TextDiff {
  const hunks = hunksOf(linesOf(before ?? ''), linesOf(after ?? ''))
  const text = formatPatch(
    {
      oldFileName: before === undefined ? '/dev/null' : `a/${path}`,
      newFileName: after === undefined ? '/dev/null' : `b/${path}`,
      oldHeader: undefined,
      newHeader: undefined,
      hunks,
    },
    FILE_HEADERS_ONLY,
  )
  const lines = hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
  return { text, added: count('+'), removed: count('-') }
}

/** The lines of a text, each with its line break. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Only what lies between the common beginning and end is compared. */
function hunksOf(before: readonly string[], after: readonly string[]): StructuredPatchHunk[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  const sides = { before, after, start, end }
  const compared = compare(between(sides, CONTEXT))
  if (compared !== undefined) return compared.map((hunk) => moved(hunk, start - CONTEXT))
  return [moved(replacing(between(sides, 0)), start)]
}

/** Two texts and the numbers of lines that they have in common at their beginning and end. */
interface Sides {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly start: number
  readonly end: number
}

interface Middle {
  readonly old: readonly string[]
  readonly now: readonly string[]
}

function between({ before, after, start, end }: Sides, context: number): Middle {
  const from = Math.max(0, start - context)
  const kept = Math.max(0, end - context)
  const middleOf = (lines: readonly string[]): readonly string[] =>
    lines.slice(from, lines.length - kept)
  return { old: middleOf(before), now: middleOf(after) }
}

function moved(hunk: StructuredPatchHunk, lines: number): StructuredPatchHunk {
  const by = Math.max(0, lines)
  return { ...hunk, oldStart: hunk.oldStart + by, newStart: hunk.newStart + by }
}

function compare({ old, now }: Middle): readonly StructuredPatchHunk[] | undefined {
  if (Math.max(old.length, now.length) > MAX_COMPARED_LINES) return undefined
  const options = { context: CONTEXT, maxEditLength: MAX_EDIT_LENGTH }
  return structuredPatch('', '', old.join(''), now.join(''), undefined, undefined, options)?.hunks
}

function replacing({ old, now }: Middle): StructuredPatchHunk {
  return {
    oldStart: 1,
    oldLines: old.length,
    newStart: 1,
    newLines: now.length,
    lines: [...signed('-', old), ...signed('+', now)],
  }
}

function signed(sign: '-' | '+', lines: readonly string[]): readonly string[] {
  const isWhole = lines.at(-1)?.endsWith('\n') ?? true
  const shown = lines.map((line) => sign + line.replace(/\n$/, ''))
  return isWhole ? shown : [...shown, '\\ No newline at end of file']
}
