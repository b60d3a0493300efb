import { kernelError } from '../../lib/errors.ts'
import type { Clock } from '../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

/** How often things go wrong, as one in so many times; 0 is never. */
export interface Faults {
  /** A message is lost; its sender hears of an error after a while, whatever came of it. */
  readonly lost: number
  /** A machine dies where it waits for a port. */
  readonly crash: number
}

/** Time that goes on by events alone, and chances that a seed repeats. */
export interface World {
  readonly random: SeededRandom
  faults: Faults
  now(): Instant
  after(delay: Millis, run: () => void): () => void
  /** Lets everything happen that is due until an instant. */
  until(end: Instant): Promise<void>
  chance(oneIn: number): boolean
}

const START: Instant = 1_800_000_000_000
const CALM: Faults = { lost: 0, crash: 0 }

export function createWorld(seed: string): World {
  const random = createSeededRandom(seed)
  const due = new Map<Instant, (() => void)[]>()
  const heap: Instant[] = []
  let now = START

  function push(at: Instant, run: () => void): void {
    const there = due.get(at)
    if (there === undefined) {
      due.set(at, [run])
      heap.push(at)
      lift(heap)
    } else there.push(run)
  }

  const world: World = {
    random,
    faults: CALM,
    now: () => now,
    after(delay, run) {
      let isCanceled = false
      // Upwards, so that whoever waits for an instant is not called before it.
      push(now + Math.max(0, Math.ceil(delay * 10) / 10), () => {
        if (!isCanceled) run()
      })
      return () => {
        isCanceled = true
      }
    },
    async until(end) {
      for (let next = heap[0]; next !== undefined && next <= end; next = heap[0]) {
        const batch = due.get(next) ?? []
        now = Math.max(now, next)
        const run = batch.shift()
        if (batch.length === 0) {
          due.delete(next)
          take(heap)
        }
        run?.()
        await rest()
      }
      now = end
    },
    chance: (oneIn) => oneIn > 0 && random.oneIn(oneIn),
  }
  return world
}

/** Whatever an event set off comes to rest, promises that follow from promises included. */
function rest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

function lift(heap: Instant[]): void {
  for (let at = heap.length - 1; at > 0;) {
    const up = (at - 1) >> 1
    if ((heap[up] ?? 0) <= (heap[at] ?? 0)) return
    swap(heap, at, up)
    at = up
  }
}

function take(heap: Instant[]): void {
  const last = heap.pop()
  if (heap.length === 0 || last === undefined) return
  heap[0] = last
  for (let at = 0; ;) {
    const [left, right] = [2 * at + 1, 2 * at + 2]
    let least = at
    if ((heap[left] ?? Infinity) < (heap[least] ?? Infinity)) least = left
    if ((heap[right] ?? Infinity) < (heap[least] ?? Infinity)) least = right
    if (least === at) return
    swap(heap, at, least)
    at = least
  }
}

function swap(heap: Instant[], a: number, b: number): void {
  const kept = heap[a] ?? 0
  heap[a] = heap[b] ?? 0
  heap[b] = kept
}

/** A process on a machine of its own: it can be stopped, cut off and killed. */
export interface Machine {
  readonly isAlive: boolean
  readonly clock: Clock
  /** Runs later, if it still lives then; after its pause, if it is stopped. */
  after(delay: Millis, run: () => void): () => void
  /** One question over the network, carried out where it arrives, whatever becomes of who asked. */
  ask<T>(carryOut: () => T | Promise<T>): Promise<T>
  /** A message to this machine, which may be lost. */
  tell(run: () => void): void
  stopFor(span: Millis): void
  cutOffFor(span: Millis): void
  kill(): void
}

/** How long an answer is waited for. */
const PATIENCE: Millis = 1000

/** @param rate how fast its clock runs, beside the world's */
export function createMachine(world: World, rate = 1): Machine {
  let isAlive = true
  let stoppedUntil: Instant = 0
  let cutOffUntil: Instant = 0

  const delay = (): Millis => 0.3 + world.random.below(40) / 10
  const isLost = (): boolean => world.now() < cutOffUntil || world.chance(world.faults.lost)

  function after(wait: Millis, run: () => void): () => void {
    let cancel = world.after(wait, fire)
    function fire(): void {
      if (!isAlive) return
      const rest = stoppedUntil - world.now()
      if (rest > 0) cancel = world.after(rest, fire)
      else run()
    }
    return () => {
      cancel()
    }
  }

  function crashesHere(): boolean {
    if (isAlive && world.chance(world.faults.crash)) isAlive = false
    return !isAlive
  }

  const started = world.now()
  const steady = (): Millis => (world.now() - started) * rate
  const machine: Machine = {
    get isAlive() {
      return isAlive
    },
    clock: {
      now: () => Math.floor(started + steady()),
      steady,
      after,
      taken: () => Promise.resolve(),
    },
    after,
    ask<T>(carryOut: () => T | Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        if (crashesHere()) return
        const fail = (): void => {
          after(PATIENCE, () => {
            reject(kernelError('unavailable'))
          })
        }
        const answer = (end: () => void): void => {
          if (isLost()) {
            fail()
            return
          }
          after(delay(), () => {
            if (!crashesHere()) end()
          })
        }
        if (isLost()) {
          fail()
          return
        }
        world.after(delay(), () => {
          Promise.resolve()
            .then(carryOut)
            .then(
              (value) => {
                answer(() => {
                  resolve(value)
                })
              },
              (cause: unknown) => {
                answer(() => {
                  reject(cause instanceof Error ? cause : new Error(String(cause)))
                })
              },
            )
        })
      })
    },
    tell(run) {
      if (!isLost()) after(delay(), run)
    },
    stopFor(span) {
      stoppedUntil = world.now() + span
    },
    cutOffFor(span) {
      cutOffUntil = world.now() + span
    },
    kill() {
      isAlive = false
    },
  }
  return machine
}
