/**
 * Preloaded into a daemon by the harness alone: loads its modules, waits for the word to start, and
 * makes it die at a failpoint, err as a mutant does, or go by a clock that is wrong.
 *
 * What it is told is one JSON line on standard input. Nothing of this is in the product.
 */
import { appendFileSync, openSync, readSync } from 'node:fs'
import { followClock } from './clock/follow.ts'
import type { Asked, Watcher } from './drivers.ts'
import { watchDrivers } from './drivers.ts'
import { matches } from './failpoint-match.ts'
import type { Failpoint, Moment, Statement } from './failpoint-table.ts'
import { FAILPOINTS } from './failpoint-table.ts'
import type { Mutant } from './mutants.ts'
import { MUTANTS } from './mutants.ts'

/** What the supervisor says when the daemon is to start. */
export interface Go {
  /** `name:nth` */
  readonly failpoint?: string | undefined
  readonly mutant?: string | undefined
  /** Where a failpoint notes that it was reached, right before the end. */
  readonly log: string
  /** SQLite's index of its write-ahead log, by which a checkpoint is foreseen. */
  readonly shm?: string | undefined
  /** Where it is written by how much its clock is wrong; absent for one that is right. */
  readonly clock?: string | undefined
}

/** Frames after which a commit also checkpoints: 1000 is SQLite's own default. */
const CHECKPOINT_FRAMES = 990

await Promise.all([import('#daemon'), import('sequelize')])
const go = JSON.parse(waitForLine()) as Go
if (go.clock !== undefined) followClock(go.clock)
watchDrivers(createWatcher(go))

/** Blocks: until it is told to start, there is nothing else for this process to do. */
function waitForLine(): string {
  const part = Buffer.alloc(4096)
  let text = ''
  while (!text.includes('\n')) {
    const size = readSync(0, part)
    // The supervisor is gone.
    if (size === 0) process.exit(1)
    text += part.subarray(0, size).toString()
  }
  return text
}

function createWatcher({ failpoint, mutant, log, shm }: Go): Watcher {
  const [name, nth] = (failpoint ?? '').split(':')
  const armed = FAILPOINTS.find((one) => one.name === name)
  const flaw: Mutant | undefined = MUTANTS.find((one) => one.name === mutant)
  let left = Number(nth)

  function reach(when: Failpoint['when'], is: (at: Failpoint['at']) => boolean): boolean {
    if (armed === undefined || armed.when !== when || !is(armed.at)) return false
    left--
    return left === 0
  }

  function die(): void {
    appendFileSync(log, `${failpoint}\n`)
    process.kill(process.pid, 'SIGKILL')
  }

  function onStatement(when: Failpoint['when'], asked: Asked): void {
    if (!reach(when, (at) => isStatement(at) && matches(at, asked))) return
    // In the middle of it the driver is given a random while, most often less than it takes.
    if (when === 'during') setTimeout(die, Math.random() * 2)
    else die()
  }

  return {
    rewrite: (sql) => (flaw?.rewrite === undefined ? sql : sql.replace(...flaw.rewrite)),
    answersEarly: (asked) => flaw?.early !== undefined && matches(flaw.early, asked),
    before(asked) {
      onStatement('before', asked)
      if (shm === undefined || armed?.at !== 'checkpoint') return
      const isCommit = /^INSERT INTO keyhook_(publishing|settling)/.test(asked.sql)
      if (isCommit && framesIn(shm) >= CHECKPOINT_FRAMES && reach('during', () => true)) {
        setTimeout(die, 1 + Math.random() * 4)
      }
    },
    during: (asked) => onStatement('during', asked),
    after: (asked) => onStatement('after', asked),
    moment(moment: Moment, when) {
      if (moment === 'body') die()
      else if (reach(when, (at) => at === moment)) die()
    },
    cutsBody: () => reach('during', (at) => at === 'body'),
  }
}

function isStatement(at: Failpoint['at']): at is Statement {
  return typeof at !== 'string'
}

/** Opened once and never closed: closing would take from this process every lock it has on the file. */
let index: number | undefined

/** The number of frames in the log, as the index that its connections share says. */
function framesIn(shm: string): number {
  const head = Buffer.alloc(20)
  index ??= openSync(shm, 'r')
  readSync(index, head, 0, head.length, 0)
  return head.readUInt32LE(16)
}
