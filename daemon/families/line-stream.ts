import type { Clock } from '../../lib/engine/ports.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { StreamEvent } from '../family.ts'

/** Resolves when it is time to look again; at once when whoever follows has left. */
export function nextLook(
  clock: Pick<Clock, 'after'>,
  every: Millis,
  left: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (left.aborted) {
      resolve()
      return
    }
    const leave = (): void => {
      cancel()
      resolve()
    }
    const cancel = clock.after(every, () => {
      left.removeEventListener('abort', leave)
      resolve()
    })
    left.addEventListener('abort', leave, { once: true })
  })
}

/** What is followed may be carried out by another process, so it is looked at. */
const LOOK_EVERY: Millis = SECOND / 2
const LINES_AT_ONCE = 200

/** Work that tells of itself line by line, until its end. */
export interface Followed<Known, Line extends { readonly number: number }, News> {
  /** As it is now; undefined once it is gone. */
  look(): Promise<Known | undefined>
  isOver(known: Known): boolean
  /** Its lines after a number, in their order. */
  lines(after: number, limit: number): Promise<readonly Line[]>
  showLine(line: Line): News
  show(known: Known): Promise<News>
}

/**
 * `line` for each line after one, `status` whenever how far it is has changed, and `end`. Lines bear
 * their numbers as ids: a client that comes back misses none, and reads the status anew.
 *
 * @param call.after the id of the last line that the client has
 * @param call.left aborts once nobody reads them
 */
export async function* followLines<Known, Line extends { readonly number: number }, News>(
  clock: Pick<Clock, 'after'>,
  first: Known,
  { after, left }: { readonly after: string; readonly left: AbortSignal },
  followed: Followed<Known, Line, News>,
): AsyncGenerator<StreamEvent<News>> {
  let seen = /^\d{1,9}$/.test(after) ? Number(after) : 0
  let told = ''
  for (let known = first; ;) {
    // Read after the record: what had ended by then has all its lines.
    for (let full = true; full;) {
      const lines = await followed.lines(seen, LINES_AT_ONCE)
      for (const line of lines) {
        yield { id: String(line.number), event: 'line', data: followed.showLine(line) }
        seen = line.number
      }
      full = lines.length === LINES_AT_ONCE
    }
    const state = await followed.show(known)
    if (followed.isOver(known)) {
      yield { event: 'end', data: state }
      return
    }
    if (JSON.stringify(state) !== told) yield { event: 'status', data: state }
    told = JSON.stringify(state)
    await nextLook(clock, LOOK_EVERY, left)
    if (left.aborted) return
    const found = await followed.look()
    if (found === undefined) return
    known = found
  }
}
