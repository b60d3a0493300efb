import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { now } from '../clock.ts'
import type { Figure, Values } from '../figure.ts'
import { TYPE, publishing } from '../payload.ts'
import type { Waits } from '../roles/receiver.ts'
import type { Round } from '../round.ts'
import { peakResident, serveAt } from './restart.ts'

const BUILD = fileURLToPath(new URL('../../../daemon/executable/build.js', import.meta.url))
const EXECUTABLE = join(dirname(BUILD), '../../keyhook')

let built: Promise<unknown> | undefined

/** Seconds from the start of a process in an empty folder until it is ready, and what was resident. */
async function startOnce(
  round: Round,
  command?: readonly [string, ...string[]],
): Promise<{ readonly seconds: number; readonly resident: number }> {
  const { env } = await round.place('sqlite')
  const started = now()
  const { url, pid } = await serveAt(round, env, command)
  const { status } = await fetch(`${url}/readyz`)
  if (status !== 200) throw new Error(`readyz answered ${status}`)
  return { seconds: (now() - started) / 1e6, resident: await peakResident(pid) }
}

/** Builds it once for all rounds, of what was compiled. */
async function build(): Promise<readonly [string]> {
  built ??= promisify(execFile)(process.execPath, [BUILD])
  await built
  return [EXECUTABLE]
}

async function measure(round: Round): Promise<Values> {
  const command = await build()
  const npm = await startOnce(round)
  const single = await startOnce(round, command)
  return {
    'size MB': (await stat(EXECUTABLE)).size / 1e6,
    'ready s': single.seconds,
    'npm form ready s': npm.seconds,
    ratio: single.seconds / npm.seconds,
    'resident MB': single.resident,
    'npm form resident MB': npm.resident,
  }
}

const OPERATOR = 'operator-of-the-bench-0123456789abcdef'
const PATIENCE_MS = 10_000

interface Served {
  /** Events accepted and delivered per second, whichever is fewer. */
  readonly done: number
  /** Of `GET /v1/keys/self` per second. */
  readonly self: number
}

/** What a process serves at saturation: first events and their deliveries, then reads of a key. */
async function serveOnce(round: Round, command?: readonly [string, ...string[]]): Promise<Served> {
  const { child: receiver, origin: target } = await round.receiver()
  const place = await round.place('sqlite')
  const leftovers = round.leftovers.part()
  const { url: origin } = await serveAt(
    { ...round, leftovers },
    {
      ...place.env,
      KEYHOOK_EVENT_TYPES: TYPE,
      KEYHOOK_OPERATOR_TOKEN: OPERATOR,
      KEYHOOK_RATE_READS: '1000000',
    },
    command,
  )
  const key = await prepare(origin, `${target}/stamped`)
  const publishes = { method: 'POST', path: '/v1/events', status: 202 } as const
  const load = await round.load({ ...publishes, origin, key, bodies: [publishing()] })
  const { from, to, sent } = load
  const waits = await receiver.call<Waits>('waits', { from, to, sent, patienceMs: PATIENCE_MS })
  if (waits.missing > 0) throw new Error(`${waits.missing} deliveries never arrived`)
  const arrived = waits.arrived / ((to - from) / 1e6)
  const reads = { method: 'GET', path: '/v1/keys/self', status: 200 } as const
  const { perSecond } = await round.load({ ...reads, origin, key })
  await leftovers.end()
  return { done: Math.min(load.perSecond, arrived), self: perSecond }
}

/** An account with a webhook, and a key of it. */
async function prepare(origin: string, url: string): Promise<string> {
  const post = async (path: string, body: object, account?: string): Promise<string> => {
    const response = await fetch(origin + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        authorization: `Bearer ${OPERATOR}`,
        'content-type': 'application/json',
        ...(account === undefined ? {} : { 'keyhook-account': account }),
      },
    })
    const made = (await response.json()) as { readonly id: string; readonly key?: string }
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(made)}`)
    return made.key ?? made.id
  }
  const account = await post('/v1/accounts', { name: 'Bench' })
  await post('/v1/webhooks', { url, events: [TYPE] }, account)
  return post('/v1/keys', { name: 'bench', scopes: ['*:*'] }, account)
}

async function measureServing(round: Round): Promise<Values> {
  const command = await build()
  const npm = await serveOnce(round)
  const single = await serveOnce(round, command)
  return {
    ratio: single.done / npm.done,
    'ratio of reads': single.self / npm.self,
    'done/s': single.done,
    'npm form done/s': npm.done,
    'reads/s': single.self,
    'npm form reads/s': npm.self,
  }
}

const NPM_FORM = 'the npm form, started in the same round'

export const executable: readonly Figure[] = [
  {
    name: 'executable',
    title: 'start of the single executable, SQLite',
    baseline: NPM_FORM,
    goals: [
      { value: 'ratio', at_most: 1.2 },
      { value: 'size MB', at_most: 200 },
    ],
    takes: 6,
    measure,
  },
  {
    name: 'executable-serves',
    title: 'events accepted and delivered per second by the single executable, SQLite',
    baseline: NPM_FORM,
    goals: [
      { value: 'ratio', at_least: 0.7 },
      { value: 'ratio of reads', at_least: 0.9 },
    ],
    takes: 18,
    measure: measureServing,
  },
]
