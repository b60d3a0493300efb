import type { Segment } from './chunk.ts'
import { createHeadingPath } from './text.ts'

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
