import type { Figure, Values } from '../figure.ts'
import { CONNECTIONS } from '../figure.ts'
import type { PeerAsked } from '../peers.ts'
import type { Round } from '../round.ts'
import { backlogOf } from '../stock.ts'
import { drainRate } from './deliver.ts'

/** Senders on other queues; `open` answers the URL of what each stands on, undefined where it is missing. */
interface Peer {
  readonly role: string
  open(round: Round): Promise<string | undefined>
  readonly remedy: string
}

const onPostgres = async (round: Round): Promise<string | undefined> =>
  (await round.place('postgres')).url

const PEERS: readonly Peer[] = [
  { role: 'pg-boss', open: onPostgres, remedy: '' },
  { role: 'graphile-worker', open: onPostgres, remedy: '' },
  {
    role: 'bullmq',
    open: (round) => round.redis(),
    remedy: 'there is no redis-server on the PATH: apt-get install redis-server',
  },
]

/** Jobs a second that a peer holds, sends and records; undefined where it cannot be measured. */
async function rateOf(round: Round, peer: Peer, count: number): Promise<number | undefined> {
  const url = await peer.open(round)
  if (url === undefined) {
    round.note(`${peer.role} was not measured, since ${peer.remedy}`)
    return undefined
  }
  const { origin: receiver } = await round.receiver()
  const child = round.start(peer.role)
  const asked: PeerAsked = { url, receiver, count, connections: CONNECTIONS }
  await child.call('fill', asked)
  const rate = await child.call<number>('drain', asked)
  await child.end()
  return rate
}

async function measure(round: Round): Promise<Values> {
  const count = Math.ceil(round.backlog * 0.2)
  const own = await drainRate(round, 'postgres', backlogOf(count))
  const rates: Record<string, number> = {}
  for (const peer of PEERS) {
    const rate = await rateOf(round, peer, count)
    if (rate !== undefined) rates[`${peer.role}/s`] = rate
  }
  return { ratio: own / Math.max(...Object.values(rates)), 'delivered/s': own, ...rates }
}

export const peers: Figure = {
  name: 'peers',
  title: 'deliveries per second from a PostgreSQL backlog, with retries on',
  baseline: 'the best of pg-boss, graphile-worker and BullMQ',
  goals: [{ value: 'ratio', at_least: 3 }],
  takes: 35,
  measure,
}
