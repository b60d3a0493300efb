import type { Child } from './child.ts'
import { startChild } from './child.ts'
import { delay } from './clock.ts'
import { CONNECTIONS } from './figure.ts'
import type { Leftovers } from './leftovers.ts'
import type { Database, Place } from './place.ts'
import { folderOn, openPlace } from './place.ts'
import type { Load, LoadResult } from './roles/load.ts'
import type { DaemonAsked } from './roles/daemon.ts'
import type { Run } from './run.ts'
import type { Stock } from './stock.ts'

/** One figure in one round: what it starts and makes ends with it. */
export interface Round {
  readonly seconds: number
  readonly backlog: number
  /** The process that deliveries go to, in its run for ever and begun anew. */
  receiver(): Promise<{ readonly child: Child; readonly origin: string }>
  redis(): Promise<string | undefined>
  start(role: string): Child
  place(database: Database, stock?: Stock): Promise<Place>
  /** Another folder on the same PostgreSQL database. */
  beside(place: Place): Promise<Place>
  /** A process that is a daemon at a place. */
  daemon(asked: DaemonAsked): Promise<{ readonly child: Child; readonly origin: string }>
  /** Runs a generator; what is not said: 64 connections, one after the other, for the run's seconds. */
  load(
    load: Partial<Load> & Pick<Load, 'origin' | 'method' | 'path' | 'status'>,
  ): Promise<LoadResult>
  /** Deliveries a second of the bare loop. */
  bareDeliver(): Promise<number>
  /** Is told beside the figure. */
  note(text: string): void
  /** Has this ended with the figure. */
  readonly leftovers: Leftovers
}

/** What the last process left to do, such as a checkpoint, is not the next one's to pay for. */
const REST_MS = 200

export function createRound(run: Run, leftovers: Leftovers, note: Round['note']): Round {
  const start: Round['start'] = (role) => {
    const child = startChild(role)
    leftovers.add(() => child.end())
    return child
  }

  const receiver: Round['receiver'] = async () => {
    const found = await run.receiver()
    await found.child.call('begin')
    return found
  }

  return {
    seconds: run.options.seconds,
    backlog: run.options.backlog,
    leftovers,
    note,
    receiver,
    redis: () => run.redis(leftovers),
    start,
    async place(database, stock) {
      const postgres = database === 'postgres' ? await run.postgres() : undefined
      const from = stock === undefined ? undefined : await run.stocked(database, stock)
      return openPlace(postgres, leftovers, from)
    },
    beside: ({ url }) => folderOn(url, leftovers),
    async daemon(asked) {
      const child = start('daemon')
      return { child, origin: await child.call<string>('start', asked) }
    },
    async load(load) {
      const child = start('load')
      const result = await child.call<LoadResult>('load', {
        key: '',
        bodies: [],
        type: 'application/json',
        count: 1,
        connections: CONNECTIONS,
        seconds: run.options.seconds,
        rate: null,
        ...load,
      })
      await child.end()
      return result
    },
    async bareDeliver() {
      const { origin } = await receiver()
      const child = start('bare-deliver')
      const rate = await child.call<number>('deliver', {
        origin,
        connections: CONNECTIONS,
        seconds: run.options.seconds,
      })
      await child.end()
      await delay(REST_MS)
      return rate
    },
  }
}
