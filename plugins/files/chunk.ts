import type { Chunk } from './contract.ts'

/** A part of the extracted text: a section, a page or a group of rows. A chunk never spans two segments. */
export interface Segment {
  readonly text: string
  readonly heading: string | null
  readonly page: number | null
  /** Repeated at the start of every chunk of it: a table's header. */
  readonly repeat?: string
}

/** In UTF-16 units, as everything here. */
export const TARGET = 2000
const OVERLAP = 240
const MAX_REPEAT = 400
const MAX_HEADING = 200

/** Where a chunk may end, the best first. */
const ENDS = [/\n\s*\n/g, /\n/g, /[.!?…]["'”’)\]]*\s|[。！？]/gu, /\s/g] as const
/** Where an overlap may begin, the best first. */
const BEGINNINGS = [ENDS[2], ENDS[3]] as const

/**
 * Cuts segments into chunks of about 2,000 characters, at paragraphs if possible, else at lines, sentences or
 * words. Within a segment a chunk repeats about an eighth of the one before it.
 *
 * Every character but white space is in a chunk; no surrogate pair is cut.
 */
export function* chunkSegments(segments: Iterable<Segment>): Generator<Chunk> {
  let offset = 0
  let ordinal = 0
  for (const { text, heading, page, repeat = '' } of segments) {
    const header = cutAt(repeat, MAX_REPEAT)
    const path = heading === null ? null : cutAt(heading, MAX_HEADING)
    for (const [start, end] of cut(text)) {
      yield {
        text: header + text.slice(start, end),
        ordinal: ordinal++,
        heading: path,
        page,
        start: offset + start,
        end: offset + end,
      }
    }
    offset += text.length
  }
}

function* cut(text: string): Generator<readonly [start: number, end: number]> {
  const last = endOfInk(text, text.length)
  let start = skipSpace(text, 0)
  while (start < last) {
    const end = last - start <= TARGET ? last : endWithin(text, start)
    const inked = endOfInk(text, end)
    yield [start, inked]
    if (end >= last) return
    // Of little text, or before a wide gap, an overlap would be all of the next chunk.
    const overlaps = inked - start > 2 * OVERLAP && end - inked < OVERLAP
    start = skipSpace(text, overlaps ? beginning(text, inked) : end)
  }
}

function endWithin(text: string, start: number): number {
  const from = start + TARGET / 2
  const window = text.slice(from, start + TARGET)
  for (const pattern of ENDS) {
    const at = lastEnd(window, pattern)
    if (at > 0) return from + at
  }
  return wholePair(text, start + TARGET)
}

/** Where the chunk after one that ends there begins. */
function beginning(text: string, end: number): number {
  const from = end - OVERLAP
  const window = text.slice(from, end - OVERLAP / 2)
  for (const pattern of BEGINNINGS) {
    const at = firstEnd(window, pattern)
    if (at > 0) return from + at
  }
  return wholePair(text, from)
}

function lastEnd(window: string, pattern: RegExp): number {
  let last = -1
  for (const match of window.matchAll(pattern)) last = match.index + match[0].length
  return last
}

function firstEnd(window: string, pattern: RegExp): number {
  for (const match of window.matchAll(pattern)) return match.index + match[0].length
  return -1
}

/** The same place, or the one before it where it would cut a surrogate pair. */
function wholePair(text: string, at: number): number {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at
}

function cutAt(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, wholePair(text, length))
}

const SPACE = /\s/

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && SPACE.test(text.charAt(at))) at++
  return at
}

function endOfInk(text: string, from: number): number {
  let at = from
  while (at > 0 && SPACE.test(text.charAt(at - 1))) at--
  return at
}
