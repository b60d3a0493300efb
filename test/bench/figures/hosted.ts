import type { Figure, Values } from '../figure.ts'
import type { HostingAsked } from '../roles/hosting.ts'
import type { LoadResult } from '../roles/load.ts'
import type { Round } from '../round.ts'
import type { StaticFile } from '../static.ts'
import { hostOf } from '../static.ts'

const APPS = 10_000

interface Hosted extends LoadResult {
  readonly resident: number
}

async function loadHosting(round: Round, file: StaticFile, apps: number): Promise<Hosted> {
  const { folder } = await round.place('sqlite')
  const child = round.start('hosting')
  const asked: HostingAsked = { folder, apps }
  const origin = await child.call<string>('start', asked)
  const hosts = Array.from({ length: apps }, (_, app) => hostOf(app))
  const load = await round.load({ ...READING, origin, path: `/${file}`, hosts })
  const resident = await child.call<number>('resident')
  await child.end()
  return { ...load, resident }
}

async function loadBare(
  round: Round,
  file: StaticFile,
  start: 'startSirv' | 'startStream',
): Promise<LoadResult> {
  const { folder } = await round.place('sqlite')
  const child = round.start('bare-static')
  const origin = await child.call<string>(start, folder)
  const load = await round.load({ ...READING, origin, path: `/${file}` })
  await child.end()
  return load
}

const READING = { method: 'GET', status: 200 } as const

async function measureSmall(round: Round): Promise<Values> {
  const own = await loadHosting(round, 'small.css', 1)
  const bare = await loadBare(round, 'small.css', 'startSirv')
  const many = await loadHosting(round, 'small.css', APPS)
  return {
    ratio: own.perSecond / bare.perSecond,
    'ratio of 10,000 apps': many.perSecond / own.perSecond,
    'answered/s': own.perSecond,
    'p99 ms': own.p99,
    'sirv/s': bare.perSecond,
    'sirv p99 ms': bare.p99,
    'of 10,000 apps/s': many.perSecond,
    'of 10,000 apps p99 ms': many.p99,
    'resident MB': own.resident,
    'of 10,000 apps resident MB': many.resident,
  }
}

async function measureLarge(round: Round): Promise<Values> {
  const own = await loadHosting(round, 'large.bin', 1)
  const bare = await loadBare(round, 'large.bin', 'startStream')
  const sirv = await loadBare(round, 'large.bin', 'startSirv')
  return {
    ratio: own.perSecond / bare.perSecond,
    'answered/s': own.perSecond,
    'p99 ms': own.p99,
    'stream/s': bare.perSecond,
    'stream p99 ms': bare.p99,
    'sirv/s': sirv.perSecond,
    'sirv p99 ms': sirv.p99,
  }
}

export const hosted: readonly Figure[] = [
  {
    name: 'hosted-small',
    title: 'requests per second for a 4 KiB file of one app, and of 10,000 apps in turn',
    baseline: 'sirv over one folder',
    goals: [
      { value: 'ratio', at_least: 0.9 },
      { value: 'ratio of 10,000 apps', at_least: 0.7 },
    ],
    takes: 30,
    measure: measureSmall,
  },
  {
    name: 'hosted-large',
    title: 'requests per second for a 1 MiB file of an app, read and checked',
    baseline: 'a bare file stream',
    goals: [{ value: 'ratio', at_least: 0.9 }],
    takes: 15,
    measure: measureLarge,
  },
]
