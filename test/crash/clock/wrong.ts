import { appendFileSync, writeFileSync } from 'node:fs'
import type { Segment, Timeline } from './timeline.ts'
import { timelineOf } from './timeline.ts'

/** The clock that the daemons of a run go by, and that jumps. */
export interface WrongClock {
  /** What the daemons are told to follow; beside it, when it was written, for whoever reads the evidence. */
  readonly file: string
  /** By how much it is ahead now. */
  readonly offset: number
  /** How far ahead and behind it ever was. */
  readonly furthest: { readonly ahead: number; readonly behind: number }
  readonly timeline: Timeline
  set(offset: number): void
}

export function createWrongClock(file: string): WrongClock {
  const segments: Segment[] = [{ from: -Infinity, until: Infinity, offset: 0 }]
  const timeline = timelineOf(segments)
  writeFileSync(file, '')
  return {
    file,
    timeline,
    get offset() {
      return segments.at(-1)?.offset ?? 0
    },
    get furthest() {
      const { least, most } = timeline.offsets({ from: -Infinity, until: Infinity })
      return { ahead: most, behind: -least }
    },
    set(offset) {
      const shift = Buffer.alloc(8)
      shift.writeDoubleLE(offset)
      const from = Date.now()
      appendFileSync(file, shift)
      const before = segments.pop()
      if (before !== undefined) segments.push({ ...before, until: Date.now() })
      segments.push({ from, until: Infinity, offset })
      appendFileSync(`${file}.jsonl`, `${JSON.stringify({ at: from, offset })}\n`)
    },
  }
}
