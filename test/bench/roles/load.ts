import { WARM_UP_MS, delay, now } from '../clock.ts'
import { printStamp, stampPlace } from '../payload.ts'
import type { Percentiles } from '../percentiles.ts'
import { percentilesOf } from '../percentiles.ts'
import type { Wire } from '../wire.ts'
import { openWire } from '../wire.ts'
import { serve } from '../serve.ts'

export interface Load {
  readonly origin: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly key: string
  /** Sent in turn; none: requests without a body. */
  readonly bodies: readonly string[]
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

async function load(asked: Load): Promise<LoadResult> {
  const requests = (asked.bodies.length === 0 ? [undefined] : asked.bodies).map((body) =>
    requestOf(asked, body),
  )
  const wires = await Promise.all(
    Array.from({ length: asked.connections }, () => openWire(asked.origin)),
  )
  const from = now() + WARM_UP_MS * 1000
  const times: number[] = []
  let turn = 0
  let to = from

  async function ask(wire: Wire): Promise<void> {
    const request = requests[turn++ % requests.length]
    if (request === undefined) return
    const sent = now()
    const status = await wire.send(stamped(request, sent))
    if (status !== asked.status) throw new Error(`answered ${status}`)
    if (sent < from) return
    to = now()
    times.push(to - sent)
  }

  await (asked.rate === null
    ? closedLoop(wires, ask, from, asked)
    : openLoop(wires, ask, from, asked))
  for (const wire of wires) wire.close()
  if (times.length === 0) throw new Error('nothing that was sent after the warm-up was answered')
  return {
    ...percentilesOf(times),
    perSecond: times.length / ((to - from) / 1e6),
    sent: times.length,
    from,
    to,
  }
}

type Ask = (wire: Wire) => Promise<void>

async function closedLoop(
  wires: readonly Wire[],
  ask: Ask,
  from: number,
  { seconds }: Load,
): Promise<void> {
  const end = from + seconds * 1e6
  await Promise.all(
    wires.map(async (wire) => {
      while (now() < end) await ask(wire)
    }),
  )
}

/** Keeps its pace whatever the server does; connections take turns, so that none is idle for long. */
async function openLoop(
  wires: readonly Wire[],
  ask: Ask,
  from: number,
  { seconds, rate }: Load,
): Promise<void> {
  const free = [...wires]
  const waiting: ((wire: Wire) => void)[] = []
  const take = (): Promise<Wire> =>
    new Promise((resolve) => {
      const wire = free.shift()
      if (wire === undefined) waiting.push(resolve)
      else resolve(wire)
    })
  async function fire(): Promise<void> {
    const wire = await take()
    await ask(wire)
    const next = waiting.shift()
    if (next === undefined) free.push(wire)
    else next(wire)
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

function requestOf({ origin, method, path, key }: Load, body: string | undefined): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${new URL(origin).host}`,
    `authorization: Bearer ${key}`,
    ...(body === undefined
      ? []
      : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)
}

/** A copy, since the socket may still hold the bytes of the last. */
function stamped(request: Buffer, micros: number): Buffer {
  const place = stampPlace(request)
  if (place === undefined) return request
  const copy = Buffer.from(request)
  copy.write(printStamp(micros), place, 'latin1')
  return copy
}

serve({ load })
