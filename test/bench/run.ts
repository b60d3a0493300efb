import type { Child } from './child.ts'
import { startChild } from './child.ts'
import type { Leftovers } from './leftovers.ts'
import type { Database, Place } from './place.ts'
import { openPlace } from './place.ts'
import type { BenchPostgres } from './postgres.ts'
import { openPostgres } from './postgres.ts'
import { redisVersion, startRedis } from './redis.ts'
import type { Stock } from './stock.ts'
import { fillPlace } from './stock.ts'

export interface RunOptions {
  readonly rounds: number
  readonly seconds: number
  readonly backlog: number
}

/** What all rounds share, each made when it is first asked for. */
export interface Run {
  readonly options: RunOptions
  postgres(): Promise<BenchPostgres>
  /** A new Redis; undefined where none is installed. */
  redis(leftovers: Leftovers): Promise<string | undefined>
  receiver(): Promise<{ readonly child: Child; readonly origin: string }>
  /** A filled place, to be copied. */
  stocked(database: Database, stock: Stock): Promise<Place>
  /** Of the servers that were used. */
  versions(): Promise<Readonly<Record<string, string>>>
}

export function createRun(options: RunOptions, leftovers: Leftovers): Run {
  let postgres: Promise<BenchPostgres> | undefined
  let receiver: Promise<{ child: Child; origin: string }> | undefined
  let origins: readonly string[] = []
  const stocked = new Map<string, Promise<Place>>()

  const openReceiver = async (): Promise<{ child: Child; origin: string }> => {
    const child = startChild('receiver')
    leftovers.add(() => child.end())
    return { child, origin: await child.call<string>('start') }
  }
  const getPostgres = (): Promise<BenchPostgres> => (postgres ??= openPostgres(leftovers))
  const getReceiver: Run['receiver'] = () => (receiver ??= openReceiver())

  /** The receiver's own origin first, then as many more as are needed. */
  async function originsOf(count: number): Promise<readonly string[]> {
    const { child, origin } = await getReceiver()
    if (origins.length === 0) origins = [origin]
    const missing = count - origins.length
    if (missing > 0) {
      origins = [...origins, ...(await child.call<readonly string[]>('origins', missing))]
    }
    return origins.slice(0, count)
  }

  async function fill(database: Database, stock: Stock): Promise<Place> {
    process.stderr.write(`makes ${stock.name} on ${database}\n`)
    const server = database === 'postgres' ? await getPostgres() : undefined
    const place = await openPlace(server, leftovers)
    const engine = startChild('engine')
    const own = leftovers.part()
    own.add(() => engine.end())
    await fillPlace(engine, place, stock, await originsOf(stock.webhooks))
    await own.end()
    return place
  }

  return {
    options,
    postgres: getPostgres,
    redis: async (own) => (redisVersion() === undefined ? undefined : startRedis(own)),
    receiver: getReceiver,
    stocked(database, stock) {
      const key = `${database} ${stock.name}`
      const made = stocked.get(key) ?? fill(database, stock)
      stocked.set(key, made)
      return made
    },
    async versions() {
      const redis = redisVersion()
      return {
        ...(postgres === undefined ? {} : { postgres: (await postgres).version }),
        ...(redis === undefined ? {} : { redis }),
      }
    },
  }
}
