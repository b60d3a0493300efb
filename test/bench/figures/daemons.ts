import type { Figure, Values } from '../figure.ts'
import type { Child } from '../child.ts'
import type { Place } from '../place.ts'
import type { Arrivals } from '../roles/receiver.ts'
import type { Round } from '../round.ts'
import { backlogOf } from '../stock.ts'

/** Deliveries a second by so many daemons on one database, from the first arrival to the last. */
async function drainBy(round: Round, daemons: number): Promise<number> {
  const stock = backlogOf(Math.ceil(round.backlog * 0.3))
  const first = await round.place('postgres', stock)
  const places: Place[] = [first]
  while (places.length < daemons) places.push(await round.beside(first))
  const { child: receiver } = await round.receiver()
  const children: Child[] = []
  for (const { env } of places) {
    children.push((await round.daemon({ env, dispatch: false })).child)
  }
  const arriving = receiver.call<Arrivals>('until', stock.pending)
  await Promise.all(children.map((child) => child.call('dispatch')))
  const arrivals = await arriving
  await Promise.all(children.map((child) => child.end()))
  return stock.pending / ((arrivals.last - arrivals.first) / 1e6)
}

async function measure(round: Round): Promise<Values> {
  const one = await drainBy(round, 1)
  const two = await drainBy(round, 2)
  return { ratio: two / one, 'by two/s': two, 'by one/s': one }
}

export const daemons: Figure = {
  name: 'two-daemons',
  title: 'deliveries per second from a backlog, two daemons on one PostgreSQL database',
  baseline: 'one daemon',
  goals: [{ value: 'ratio', at_least: 1.5 }],
  takes: 12,
  measure,
}
