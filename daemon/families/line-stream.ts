import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { StreamEvent } from '../operations/operation.ts'
import type { Platform } from '../platform.ts'
import type { Follower } from './polling.ts'
import { poll } from './polling.ts'

/** Another process may do the work, so its lines are polled. */
const LOOK_EVERY: Millis = SECOND / 2
const LINES_AT_ONCE = 200

/** Work with a log, until its end. */
export interface StreamedWork<Known, Line extends { readonly number: number }, Data> {
  /** Current state; undefined once it is gone. */
  look(): Promise<Known | undefined>
  isOver(known: Known): boolean
  /** Its lines after a number, in order. */
  lines(after: number, limit: number): Promise<readonly Line[]>
  showLine(line: Line): Data
  show(known: Known): Promise<Data>
}

/**
 * Streams `line` for each line, `status` for each change of state, and `end`. The id of an event is the
 * line's number: a reconnecting client misses no line, and gets the state again.
 *
 * @param call.after id of the last line that the client has
 */
export async function* streamLines<Known, Line extends { readonly number: number }, Data>(
  platform: Pick<Platform, 'clock' | 'queues'>,
  call: Follower & { readonly after: string },
  work: StreamedWork<Known, Line, Data>,
): AsyncGenerator<StreamEvent<Data>> {
  let seen = /^\d{1,9}$/.test(call.after) ? Number(call.after) : 0
  let sent = ''
  for await (const { lines, now } of poll(platform, LOOK_EVERY, call, read)) {
    for (const line of lines) {
      yield { id: String(line.number), event: 'line', data: work.showLine(line) }
      seen = line.number
    }
    if (now === undefined) continue
    if (now.isOver) {
      yield { event: 'end', data: now.state }
      return
    }
    const text = JSON.stringify(now.state)
    if (text !== sent) yield { event: 'status', data: now.state }
    sent = text
  }

  async function read() {
    const known = await work.look()
    if (known === undefined) return undefined
    // Read after the state: work that had ended by then has all its lines.
    const lines = await work.lines(seen, LINES_AT_ONCE)
    const more = lines.length === LINES_AT_ONCE
    const now = more ? undefined : { state: await work.show(known), isOver: work.isOver(known) }
    return { lines, more, now }
  }
}
