import { openSync, readSync } from 'node:fs'

const SHIFT_BYTES = 8

/**
 * Puts the wall clock of this process wrong by what was last written to a file: doubles, each by how many
 * milliseconds. Timers, `performance.now` and dates that are told their instant stay right.
 *
 * The file is read at every look at the clock: what was written holds from that moment in every process
 * and at every later start, with nobody to tell and nothing that a kill could lose. It only grows, so
 * that no number can be read half written.
 */
export function followClock(path: string): void {
  const file = openSync(path, 'r')
  const part = Buffer.alloc(SHIFT_BYTES)
  const right = Date.now
  let at = 0
  let offset = 0
  const now = (): number => {
    while (readSync(file, part, 0, SHIFT_BYTES, at) === SHIFT_BYTES) {
      at += SHIFT_BYTES
      offset = part.readDoubleLE()
    }
    return right() + offset
  }
  Date.now = now
  globalThis.Date = new Proxy(Date, {
    construct: (target, input: unknown[], made) =>
      Reflect.construct(target, input.length === 0 ? [now()] : input, made) as Date,
    apply: (target) => new target(now()).toString(),
  })
}
