import type { Figure, Values } from '../figure.ts'
import type { Round } from '../round.ts'
import type { Stock } from '../stock.ts'
import { drainRate } from './deliver.ts'

/** At the default backlog of 100,000: a thousand and a million. */
function stockWith(backlog: number, finished: number): Stock {
  const pending = Math.ceil(backlog * 0.3)
  return { name: `${finished} finished, ${pending} pending`, pending, webhooks: 1, finished }
}

async function measure(round: Round): Promise<Values> {
  const few = await drainRate(round, 'sqlite', stockWith(round.backlog, round.backlog / 100))
  const many = await drainRate(round, 'sqlite', stockWith(round.backlog, round.backlog * 10))
  return { ratio: many / few, 'delivered/s': many, 'with 10^3/s': few }
}

export const finished: Figure = {
  name: 'finished-rows',
  title: 'deliveries per second from a backlog in a table with 10^6 finished deliveries, SQLite',
  baseline: '10^3 finished deliveries',
  goals: [{ value: 'ratio', at_least: 0.9 }],
  takes: 10,
  measure,
}
