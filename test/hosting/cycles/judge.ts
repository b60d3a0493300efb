import type { Answer } from './ask.ts'
import type { Held } from './body.ts'
import { readBody } from './body.ts'
import type { CyclesLedger } from './invariants.ts'
import type { Asked, Judged } from './judgings.ts'
import { JUDGINGS } from './judgings.ts'
import type { State, Timeline } from './timeline.ts'

/** Holds answers against what was live, and counts what was answered. */
export interface Judge {
  /** Answers what the visitor may keep of it. */
  judge(asked: Asked, answer: Answer): Held | undefined
  /** There was no whole answer. */
  broke(asked: Asked, cause: unknown): void
  /** By method and status. */
  readonly counts: Readonly<Record<string, number>>
  /** Answers that were under way while something changed. */
  readonly overlapping: number
  /** How long each answer took. */
  readonly took: readonly number[]
}

export function createJudge(timeline: Timeline, ledger: CyclesLedger): Judge {
  const counts: Record<string, number> = {}
  const took: number[] = []
  let overlapping = 0

  function count(name: string): void {
    counts[name] = (counts[name] ?? 0) + 1
  }

  return {
    counts,
    took,
    get overlapping() {
      return overlapping
    },
    judge(asked, answer) {
      const name = `${asked.method} ${answer.status}`
      count(name)
      took.push(answer.answered - answer.asked)
      const judged = { asked, answer, body: readBody(answer) }
      const judging = JUDGINGS[name]
      const { number } = judged.body
      timeline.whenKnown(answer.asked, answer.answered, (states) => {
        if (states.length > 1) overlapping++
        ledger.check('answers.well', judging !== undefined, () => show(judged, states))
        judging?.(judged, states, (rule, holds, evidence) => {
          ledger.check(rule, holds, () => `${evidence()}: ${show(judged, states)}`)
        })
        const isNew = name === 'GET 200' && asked.of === undefined
        if (isNew && number !== undefined) timeline.sight(number, answer.asked, answer.answered)
      })
      const { etag } = answer.headers
      if (name !== 'GET 200' || etag === undefined || number === undefined) return undefined
      return { file: asked.file, number, etag, body: answer.body }
    },
    broke({ method, path }, cause) {
      count('broken')
      ledger.check('answers.well', false, () => `${method} ${path}: ${String(cause)}`)
    },
  }
}

/** Evidence shows the beginning of a body. */
const SHOWN = 200

function show({ asked, answer, body }: Judged, states: readonly State[]): string {
  const { held, part, ...question } = asked
  return JSON.stringify({
    question: {
      ...question,
      held: held?.number,
      part: [part?.start, part?.end, part?.held?.number],
    },
    answer: { ...answer, body: body.plain?.subarray(0, SHOWN).toString() },
    states,
  })
}
