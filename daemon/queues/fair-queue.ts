import { httpError } from '../operations/errors.ts'

/** Holder and subject of queued work. */
export interface Turn {
  /** Holder, such as a network or an account; holders are served in turn. */
  readonly holder: string
  /** Wider groups of the holder, the widest first. Groups take turns before their holders do. */
  readonly within?: readonly string[]
  /** Subject, such as an app: its work runs one at a time. */
  readonly subject?: string
  /** Aborts waiting work, which then does not begin. */
  readonly signal?: AbortSignal
  /** Whether the work is neither counted, refused nor dropped: its caller bounds its amount. */
  readonly kept?: boolean
}

/** Queues work, and runs it in its turn. */
export type FairQueue = <T>(turn: Turn, work: () => Promise<T>) => Promise<T>

export interface FairQueueOptions {
  /** Maximum concurrent work. */
  readonly atOnce: number
  /** Maximum waiting work. */
  readonly waiting: number
}

const RETRY_AFTER_SECONDS = 2

/** A holder, or a group of holders. It exists while its work waits or runs. */
interface Line {
  readonly name: string
  /** Members of a group; the one that was served last comes last. */
  readonly lines: Map<string, Line>
  /** Waiting work of a holder. */
  readonly waiters: Waiter[]
  /** Waiting work that counts, including that of narrower lines. */
  counted: number
  running: number
}

/** The lines of a turn, from all work together to the holder. */
type Path = readonly Line[]

interface Waiter {
  readonly turn: Turn
  readonly path: Path
  start(): void
  drop(cause: unknown): void
}

/**
 * Runs a bounded amount of work at once; more work waits, up to a bound. A single holder may use all of
 * both. The next work is that of the holder with the least running work, and of equals that of the next in
 * turn, however much each has queued. When too much waits, the last work of the holder with most is
 * dropped; when holders have equally much, that of the wider group with most. The first work of a widest
 * group is always accepted.
 *
 * The queue throws KeyhookError `rate_limited` for dropped work, and the reason of the signal for work
 * whose signal aborts before it begins.
 *
 * @example
 * const queue = createFairQueue({ atOnce: 2, waiting: 100 })
 * const hash = await queue({ holder: '192.0.2.1' }, () => slowHash('text'))
 */
export function createFairQueue({ atOnce, waiting }: FairQueueOptions): FairQueue {
  const all = createLine('')
  const subjects = new Set<string>()

  const mayStart = ({ subject }: Turn): boolean =>
    all.running < atOnce && (subject === undefined || !subjects.has(subject))

  function begin({ subject }: Turn, path: Path): void {
    if (subject !== undefined) subjects.add(subject)
    for (const line of path) line.running += 1
    moveLast(path)
  }

  function wait(turn: Turn, path: Path): Promise<void> {
    const { signal } = turn
    return new Promise((resolve, reject) => {
      function abort(): void {
        remove(waiter)
        reject(signal?.reason)
      }
      function settle(): void {
        signal?.removeEventListener('abort', abort)
      }
      const waiter: Waiter = {
        turn,
        path,
        start: () => {
          settle()
          resolve()
        },
        drop: (cause) => {
          settle()
          reject(cause)
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      path.at(-1)?.waiters.push(waiter)
      if (turn.kept === true) return
      for (const line of path) line.counted += 1
      if (all.counted > waiting) dropOne(waiter)
    })
  }

  function dropOne(newcomer: Waiter): void {
    const dropped = newestOf(lineToDropFrom(all, newcomer.path)) ?? newcomer
    remove(dropped)
    dropped.drop(httpError('rate_limited', { details: { retry_after: RETRY_AFTER_SECONDS } }))
  }

  function leave({ subject }: Turn, path: Path): void {
    if (subject !== undefined) subjects.delete(subject)
    for (const line of path) line.running -= 1
    const next = nextOf(all, ({ turn }) => mayStart(turn))
    if (next !== undefined) {
      begin(next.turn, next.path)
      remove(next)
      next.start()
    }
    forgetEmpty(path)
  }

  return async (turn, work) => {
    turn.signal?.throwIfAborted()
    const path = openPath(all, turn)
    if (mayStart(turn)) begin(turn, path)
    else await wait(turn, path)
    try {
      turn.signal?.throwIfAborted()
      return await work()
    } finally {
      leave(turn, path)
    }
  }
}

function createLine(name: string): Line {
  return { name, lines: new Map(), waiters: [], counted: 0, running: 0 }
}

function openPath(all: Line, { holder, within = [] }: Turn): Path {
  const path = [all]
  let group = all
  for (const name of [...within, holder]) {
    const line = group.lines.get(name) ?? createLine(name)
    group.lines.set(name, line)
    path.push(line)
    group = line
  }
  return path
}

/** Moves every line of a path to the end of its group. */
function moveLast(path: Path): void {
  for (const [index, line] of path.entries()) {
    const group = path[index - 1]
    group?.lines.delete(line.name)
    group?.lines.set(line.name, line)
  }
}

function forgetEmpty(path: Path): void {
  for (const [index, line] of [...path.entries()].reverse()) {
    if (line.running > 0 || line.waiters.length > 0 || line.lines.size > 0) return
    path[index - 1]?.lines.delete(line.name)
  }
}

function remove(waiter: Waiter): void {
  const { path, turn } = waiter
  const { waiters } = path.at(-1) ?? createLine('')
  const index = waiters.indexOf(waiter)
  if (index < 0) return
  waiters.splice(index, 1)
  if (turn.kept !== true) for (const line of path) line.counted -= 1
  forgetEmpty(path)
}

function nextOf(line: Line, mayStart: (waiter: Waiter) => boolean): Waiter | undefined {
  let found: Waiter | undefined
  let least = Infinity
  for (const narrower of line.lines.values()) {
    if (narrower.running >= least) continue
    const waiter = nextOf(narrower, mayStart)
    if (waiter === undefined) continue
    found = waiter
    least = narrower.running
    if (least === 0) break
  }
  return found ?? line.waiters.find(mayStart)
}

/** The line with most work, the narrower first; undefined when none has more than the newcomer's own. */
function lineToDropFrom(all: Line, path: Path): Line | undefined {
  for (let depth = path.length - 1; depth > 0; depth -= 1) {
    const heaviest = heaviestOf(linesAt(all, depth))
    if (heaviest !== undefined && heaviest.counted > (path[depth]?.counted ?? 0)) return heaviest
  }
  const widest = path[1]
  if (widest === undefined || widest.counted > 1) return undefined
  return heaviestOf([...all.lines.values()].filter((line) => line !== widest))
}

function linesAt(line: Line, depth: number): readonly Line[] {
  if (depth === 0) return [line]
  return [...line.lines.values()].flatMap((narrower) => linesAt(narrower, depth - 1))
}

/** Of equals, the next in turn. */
function heaviestOf(lines: Iterable<Line>): Line | undefined {
  let heaviest: Line | undefined
  for (const line of lines) if (line.counted > (heaviest?.counted ?? 0)) heaviest = line
  return heaviest
}

function newestOf(line: Line | undefined): Waiter | undefined {
  const narrower = heaviestOf(line?.lines.values() ?? [])
  return narrower === undefined
    ? line?.waiters.findLast(({ turn }) => turn.kept !== true)
    : newestOf(narrower)
}
