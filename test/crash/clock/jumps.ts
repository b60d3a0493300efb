import { setTimeout } from 'node:timers/promises'
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { Supervisor } from '../supervisor.ts'
import type { WrongClock } from './wrong.ts'

/** One time that the clock jumps. */
export interface Jump {
  /** Which of the kills it goes with. */
  readonly kill: number
  /** By how much the clock is ahead from then on. */
  readonly offset: number
  /** So long after its daemon began to serve; null: before it starts, while there is none. */
  readonly after: number | null
}

const MINUTE = 60_000
/** Minutes and hours, both ways. */
const WRONG = [2, -2, 20, -20, 180, -180].map((minutes) => minutes * MINUTE)

/** Long enough for retries to be planned, and for secrets and webhooks to change. */
const STRAYS = 3000
/** Long enough for what is stuck by then to be seen so. */
const IS_RIGHT = 1000

/** Spread over the kills; of a clock that is wrong two jumps in three put it right. */
export function planJumps(count: number, kills: number, random: SeededRandom): readonly Jump[] {
  let current = 0
  return Array.from({ length: count }, (_, index) => {
    const isRighted = current !== 0 && random.below(3) > 0
    const others = WRONG.filter((offset) => offset !== current)
    current = isRighted ? 0 : (random.pickAny(others) ?? 0)
    return {
      kill: Math.floor((index * kills) / count),
      offset: current,
      after: random.oneIn(3) ? null : random.below(800),
    }
  })
}

/** How often it jumped. */
interface JumpTally {
  /** While a daemon served. */
  serving: number
  /** While it started, or there was none. */
  between: number
}

/** What became of a clock that jumps. */
export interface Jumps extends JumpTally {
  readonly ahead: number
  readonly behind: number
}

export interface Jumper {
  readonly tally: JumpTally
  /** Makes the jumps of a kill; the answer makes those that its daemon did not live to see. */
  begin(kill: number): () => void
  /** Puts the clock right. */
  right(): void
  /** Puts it wrong, one way or the other, for a while, and right for another. */
  stray(): Promise<void>
}

export function createJumper(
  clock: WrongClock,
  jumps: readonly Jump[],
  random: SeededRandom,
  daemon: Pick<Supervisor, 'isServing' | 'untilServing'>,
): Jumper {
  const tally: JumpTally = { serving: 0, between: 0 }

  function to(offset: number): void {
    if (offset === clock.offset) return
    tally[daemon.isServing ? 'serving' : 'between']++
    clock.set(offset)
  }

  return {
    tally,
    right: () => to(0),
    async stray() {
      to(random.pickAny(WRONG.filter((offset) => offset !== clock.offset)) ?? 0)
      await setTimeout(STRAYS)
      to(0)
      await setTimeout(IS_RIGHT)
    },
    begin(kill) {
      const left = new Set(jumps.filter((jump) => jump.kill === kill))
      const make = (jump: Jump): void => {
        if (left.delete(jump)) to(jump.offset)
      }
      for (const jump of left) if (jump.after === null) make(jump)
      void daemon.untilServing().then(() => {
        for (const jump of left) void setTimeout(jump.after ?? 0).then(() => make(jump))
      })
      return () => {
        for (const jump of left) make(jump)
      }
    },
  }
}
