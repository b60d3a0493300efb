import type { Figure, Values } from '../figure.ts'
import { TYPE, publishing } from '../payload.ts'
import type { LoadResult } from '../roles/load.ts'
import type { Made } from '../roles/daemon.ts'
import type { Waits } from '../roles/receiver.ts'
import type { Round } from '../round.ts'

const PATIENCE_MS = 10_000
const PUBLISHING = { method: 'POST', path: '/v1/events', status: 202 } as const

interface Pace {
  readonly rate: number | null
  readonly seconds: number
}

/** Publishes to a daemon that sends at the same time; times run from the request to the arrival. */
async function throughDaemon(
  round: Round,
  pace: Pace,
): Promise<{ load: LoadResult; waits: Waits }> {
  const { child: receiver, origin: target } = await round.receiver()
  const { env } = await round.place('sqlite')
  const daemon = await round.daemon({ env: { ...env, KEYHOOK_EVENT_TYPES: TYPE }, dispatch: true })
  const { key } = await daemon.child.call<Made>('make', [{ type: TYPE, url: `${target}/stamped` }])
  const { origin } = daemon
  const load = await round.load({ ...PUBLISHING, ...pace, origin, key, bodies: [publishing()] })
  const { from, to, sent } = load
  const waits = await receiver.call<Waits>('waits', { from, to, sent, patienceMs: PATIENCE_MS })
  await daemon.child.end()
  return { load, waits }
}

/** What accepts and keeps nothing: at a rate below its own, what the machine itself makes of a request. */
async function throughBare(round: Round, pace: Partial<Pace>): Promise<LoadResult> {
  const bare = round.start('bare-accept')
  const origin = await bare.call<string>('start')
  const load = await round.load({ ...PUBLISHING, ...pace, origin, bodies: [publishing()] })
  await bare.end()
  return load
}

async function measureBoth(round: Round): Promise<Values> {
  const accept = await throughBare(round, {})
  const deliver = await round.bareDeliver()
  const sum = 1 / (1 / accept.perSecond + 1 / deliver)
  const { load, waits } = await throughDaemon(round, { rate: null, seconds: round.seconds })
  const arrived = waits.arrived / ((load.to - load.from) / 1e6)
  // What was accepted and piled up was not done.
  const done = Math.min(load.perSecond, arrived)
  return {
    ratio: done / sum,
    'done/s': done,
    'accepted/s': load.perSecond,
    'arrived/s': arrived,
    'harmonic sum/s': sum,
  }
}

/** Long enough for a 99th of a hundred to mean something. */
const LATENCY_TIMES = 2.5

async function measureLatency(round: Round, rate: number | null): Promise<Values> {
  const seconds = rate === null ? round.seconds : round.seconds * LATENCY_TIMES
  const bare = await throughBare(round, { rate, seconds })
  const { load, waits } = await throughDaemon(round, { rate, seconds })
  return {
    'p50 ms': waits.p50,
    'p99 ms': waits.p99,
    'accepted/s': load.perSecond,
    'accepted p50 ms': load.p50,
    'accepted p99 ms': load.p99,
    'bare accept p50 ms': bare.p50,
    'bare accept p99 ms': bare.p99,
    'never arrived': waits.missing,
  }
}

const STEADY = [
  { value: 'p50 ms', at_most: 2 },
  { value: 'p99 ms', at_most: 15 },
] as const

export const both: readonly Figure[] = [
  {
    name: 'both',
    title: 'events accepted and delivered per second, at saturation, SQLite',
    baseline: 'the harmonic sum of the two bare loops',
    goals: [{ value: 'ratio', at_least: 0.4 }],
    takes: 12,
    measure: measureBoth,
  },
  {
    name: 'latency-200',
    title: 'time from request to arrival at 200 events/s, SQLite',
    baseline: null,
    goals: STEADY,
    takes: 14,
    measure: (round) => measureLatency(round, 200),
  },
  {
    name: 'latency-1000',
    title: 'time from request to arrival at 1,000 events/s, SQLite',
    baseline: null,
    goals: STEADY,
    takes: 14,
    measure: (round) => measureLatency(round, 1000),
  },
  {
    name: 'latency-saturation',
    title: 'time from request to arrival at saturation, SQLite',
    baseline: null,
    goals: [{ value: 'p99 ms', at_most: 40 }],
    takes: 8,
    measure: (round) => measureLatency(round, null),
  },
]
