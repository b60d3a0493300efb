import { WARM_UP_MS, delay, now } from '../clock.ts'
import type { Percentiles } from '../percentiles.ts'
import { percentilesOf } from '../percentiles.ts'
import type { Request } from '../requests.ts'
import { requestOf, written } from '../requests.ts'
import type { Wire } from '../wire.ts'
import { openWire } from '../wire.ts'
import { serve } from '../serve.ts'

export interface Load {
  readonly origin: string
  readonly method: 'GET' | 'POST'
  /** Of all connections, or of each its own. */
  readonly path: string | readonly string[]
  /** Of all connections, or of each its own. */
  readonly key: string | readonly string[]
  /** Sent in turn; none: requests without a body. */
  readonly bodies: readonly string[]
  /** Of the bodies. */
  readonly type: string
  /** Further headers of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** What each connection begins to count its requests with. */
  readonly count: number
  /** Asked in turn, where requests have no bodies. Default: that of the origin. */
  readonly hosts?: readonly string[]
  /** What every answer must be. */
  readonly status: number
  readonly connections: number
  readonly seconds: number
  /** Requests a second, answered or not; null: each connection sends again once it was answered. */
  readonly rate: number | null
}

/** Of what was sent after the warm-up. Percentiles are of the time to the answer. */
export interface LoadResult extends Percentiles {
  readonly perSecond: number
  readonly sent: number
  /** Microseconds: when the first was sent, and the last answered. */
  readonly from: number
  readonly to: number
}

/** One connection and what it sends. */
interface Line {
  readonly wire: Wire
  readonly requests: readonly Request[]
  count: number
}

async function openLine(asked: Load, index: number): Promise<Line> {
  const own = (given: string | readonly string[]): string =>
    typeof given === 'string' ? given : (given[index] ?? '')
  const bodies = asked.bodies.length === 0 ? [undefined] : asked.bodies
  const { origin, hosts = [new URL(origin).host] } = asked
  const parts = { ...asked, path: own(asked.path), key: own(asked.key) }
  return {
    wire: await openWire(origin),
    requests: hosts.flatMap((host) => bodies.map((body) => requestOf({ ...parts, host, body }))),
    count: asked.count,
  }
}

async function load(asked: Load): Promise<LoadResult> {
  const lines = await Promise.all(
    Array.from({ length: asked.connections }, (_, index) => openLine(asked, index)),
  )
  const from = now() + WARM_UP_MS * 1000
  const times: number[] = []
  let turn = 0
  let to = from

  async function ask(line: Line): Promise<void> {
    const request = line.requests[turn++ % line.requests.length]
    if (request === undefined) return
    const sent = now()
    const status = await line.wire.send(written(request, sent, line.count++))
    if (status !== asked.status) throw new Error(`answered ${status}`)
    if (sent < from) return
    to = now()
    times.push(to - sent)
  }

  await (asked.rate === null
    ? closedLoop(lines, ask, from, asked)
    : openLoop(lines, ask, from, asked))
  for (const { wire } of lines) wire.close()
  if (times.length === 0) throw new Error('nothing that was sent after the warm-up was answered')
  return {
    ...percentilesOf(times),
    perSecond: times.length / ((to - from) / 1e6),
    sent: times.length,
    from,
    to,
  }
}

type Ask = (line: Line) => Promise<void>

async function closedLoop(
  lines: readonly Line[],
  ask: Ask,
  from: number,
  { seconds }: Load,
): Promise<void> {
  const end = from + seconds * 1e6
  await Promise.all(
    lines.map(async (line) => {
      while (now() < end) await ask(line)
    }),
  )
}

/** Keeps its pace whatever the server does; connections take turns, so that none is idle for long. */
async function openLoop(
  lines: readonly Line[],
  ask: Ask,
  from: number,
  { seconds, rate }: Load,
): Promise<void> {
  const free = [...lines]
  const waiting: ((line: Line) => void)[] = []
  const take = (): Promise<Line> =>
    new Promise((resolve) => {
      const line = free.shift()
      if (line === undefined) waiting.push(resolve)
      else resolve(line)
    })
  async function fire(): Promise<void> {
    const line = await take()
    await ask(line)
    const next = waiting.shift()
    if (next === undefined) free.push(line)
    else next(line)
  }

  const perMicro = (rate ?? 0) / 1e6
  const started = now()
  const total = Math.floor((from - started + seconds * 1e6) * perMicro)
  const asking: Promise<void>[] = []
  while (asking.length < total) {
    const due = Math.min(total, Math.floor((now() - started) * perMicro))
    while (asking.length < due) asking.push(fire())
    await delay(1)
  }
  await Promise.all(asking)
}

serve({ load })
