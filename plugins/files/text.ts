import type { Segment } from './chunk.ts'

/**
 * The text of bytes: UTF-8, or UTF-16 where a byte order mark says so. Invalid text and
 * NUL become U+FFFD, so that every store can keep it.
 */
export function decodeText(bytes: Uint8Array): string {
  return withoutNul(new TextDecoder(encodingOf(bytes)).decode(bytes))
}

/** Replaces NUL and lone surrogates, each by one U+FFFD. */
export function wellFormed(text: string): string {
  return withoutNul(Buffer.from(text, 'utf8').toString('utf8'))
}

function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return 'utf-8'
}

/** Plain text is one segment. */
export function textSegments(text: string): readonly Segment[] {
  return [{ text, heading: null, page: null }]
}

/** Joins a heading to those above it. */
export interface HeadingPath {
  /** Enters a heading of a level from 1 to 6 and answers the path to it. */
  enter(level: number, title: string): string
}

export function createHeadingPath(): HeadingPath {
  const titles: string[] = []
  return {
    enter(level, title) {
      titles.length = Math.min(titles.length, level - 1)
      titles[level - 1] = shorten(title)
      return titles.filter(Boolean).join(' > ')
    },
  }
}

/** At most 100 characters, never half of a surrogate pair: every chunk below carries it. */
function shorten(title: string): string {
  const start = title.slice(0, 1000).replace(/\s+/g, ' ').trim()
  return start.length <= 100 ? start : start.slice(0, 100).replace(/[\ud800-\udbff]$/, '')
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*$/

/** A section each: a heading with what follows up to the next one, wherever it is not code. */
export function markdownSegments(text: string): readonly Segment[] {
  const path = createHeadingPath()
  const segments: Segment[] = []
  let heading: string | null = null
  let fence = ''
  let sectionAt = 0
  let at = 0

  function close(end: number): void {
    if (end > sectionAt) segments.push({ text: text.slice(sectionAt, end), heading, page: null })
    sectionAt = end
  }

  for (const line of linesOf(text)) {
    const marks = FENCE.exec(line)?.[1] ?? ''
    const found = fence === '' && marks === '' ? HEADING.exec(line.trimEnd()) : null
    if (found !== null) {
      close(at)
      heading = path.enter(found[1]?.length ?? 1, (found[2] ?? '').replace(/[ \t]#+$/, ''))
    }
    if (fence === '') fence = marks
    else if (marks.startsWith(fence)) fence = ''
    at += line.length
  }
  close(text.length)
  return segments
}

function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at) + 1 || text.length
    yield text.slice(at, end)
    at = end
  }
}
