import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shuffle } from '../crash/plan.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import type { Change } from './changer.ts'
import type { ClientOrders, ClientWord } from './client.ts'
import type { FaultName } from './faults.ts'
import { FAULTS } from './faults.ts'
import type { Fleet } from './fleet.ts'
import type { FleetLedger } from './invariants.ts'
import type { ProbeCounts } from './prober.ts'

import { rest, steady } from './steady.ts'

export interface AuthorityOptions {
  readonly fleet: Fleet
  readonly ledger: FleetLedger
  readonly folder: string
  readonly changes: number
  readonly seed: string
  readonly random: SeededRandom
  readonly pace: number
  /** The longest fault. */
  readonly longest: number
  /** Only these, by name; all of them when absent. */
  readonly faults: readonly FaultName[] | undefined
  readonly progress: (line: string) => void
}

export interface AuthorityResult {
  /** Whether a fault, or what it left, overlapped the change. */
  readonly changes: readonly (Change & { readonly isFaulty: boolean })[]
  readonly probes: ProbeCounts
  /** Those that the client found. */
  readonly violations: FleetLedger['violations']
  /** How often each of them befell a daemon. */
  readonly faults: Readonly<Record<string, number>>
  /** Over the parts without faults. */
  readonly verifications: {
    readonly cache: number
    readonly store: number
    readonly seconds: number
  }
}

/** Held against what changed where both are known: in the client. */
const OF_CLIENT = ['authority.held', 'authority.kept'] as const
const ALL = Object.keys(FAULTS) as FaultName[]
const CHANGERS = 4
/** Changes without a fault between two faults. */
const CALM = 10
const STAGGER = 2000
const READY_WITHIN = 20_000
/** Longer than what is left of any lease. */
const SETTLES = 2500

/** Takes authority away through random daemons while they are at fault by turns. */
export async function runAuthority(options: AuthorityOptions): Promise<AuthorityResult> {
  const { fleet, ledger, folder, random, progress } = options
  const changes: Change[] = []
  let ofClient: FleetLedger['violations'] = []
  const windows: { readonly from: number; readonly until: number }[] = []
  const counts: Record<string, number> = {}
  const verifications = { cache: 0, store: 0, seconds: 0 }
  const toCome: FaultName[] = []
  let probes: ProbeCounts | undefined

  const client = fork(fileURLToPath(new URL('client.js', import.meta.url)))
  const ended = once(client, 'exit')
  const untilEnded = ended.then(([code]) => {
    if (code !== 0) throw new Error(`the client ended with ${String(code)}`)
  })
  untilEnded.catch(() => undefined)
  client.on('message', (word: ClientWord) => {
    if ('change' in word) changes.push(word.change)
    else if ('violations' in word) ofClient = word.violations
    else {
      probes = word.counts
      for (const name of OF_CLIENT) Object.assign(ledger.rows[name], word.rows[name])
    }
  })
  const orders: ClientOrders = {
    origins: fleet.members.map(({ origin }) => origin),
    operator: fleet.operator,
    seed: options.seed,
    changers: CHANGERS,
    pace: options.pace,
    journal: join(folder, 'client.jsonl'),
  }
  client.send(orders)

  const count = async (from: 'cache' | 'store'): Promise<number> => {
    const all = fleet.members.map((member) =>
      fleet.metric(member, 'keyhook_verifications_total', `from="${from}"`),
    )
    return (await Promise.all(all)).reduce((sum, one) => sum + one, 0)
  }

  async function untilChanged(more: number): Promise<void> {
    const goal = changes.length + more
    while (changes.length < goal) await rest(50)
  }

  async function beCalm(): Promise<void> {
    const [cache, store, began] = [await count('cache'), await count('store'), steady()]
    await untilChanged(CALM)
    verifications.cache += (await count('cache')) - cache
    verifications.store += (await count('store')) - store
    verifications.seconds += (steady() - began) / 1000
  }

  /** Each of them before any comes again. */
  function nextFault(): FaultName {
    if (toCome.length === 0) toCome.push(...shuffle(options.faults ?? ALL, random))
    return toCome.pop() ?? 'kill'
  }

  async function beAtFault(): Promise<void> {
    const members = shuffle(fleet.members, random).slice(0, random.oneIn(2) ? 2 : 1)
    const from = steady()
    const chosen = members.map((member) => ({ member, name: nextFault() }))
    const said = chosen
      .map(({ member, name }) => `${name} at ${fleet.members.indexOf(member)}`)
      .join(', ')
    await Promise.all(
      chosen.map(async ({ member, name }, index) => {
        counts[name] = (counts[name] ?? 0) + 1
        // The second befalls while others still wait for what the first cut off.
        await rest(index * random.below(STAGGER))
        await FAULTS[name](member, random.below(options.longest), random)
      }),
    )
    const healed = steady()
    const late = await fleet.ready(READY_WITHIN)
    progress(
      `${changes.length} changes; ${said}: ready again after ${Math.round(steady() - healed)} ms`,
    )
    for (const member of members) {
      const { death } = member
      ledger.check('daemon.lives', death === undefined, () => `${said}; daemon ${String(death)}`)
      const isReady = death !== undefined || !late.includes(member)
      ledger.check('daemon.recovers', isReady, () => said)
    }
    await rest(SETTLES)
    windows.push({ from, until: steady() })
  }

  async function work(): Promise<void> {
    // Beyond as many changes as were asked for it goes on until each fault was there as often as others.
    while (
      (changes.length < options.changes || toCome.length > 0) &&
      ofClient.length + ledger.violations.length === 0
    ) {
      await beCalm()
      await beAtFault()
    }
    client.send('stop')
    await untilEnded
  }

  try {
    await Promise.race([work(), untilEnded])
  } finally {
    client.kill('SIGKILL')
  }
  if (probes === undefined) throw new Error('the client did not say what it counted')
  return {
    changes: changes.map((change) => ({
      ...change,
      isFaulty: windows.some(({ from, until }) => change.asked <= until && change.answered >= from),
    })),
    probes,
    violations: ofClient,
    faults: counts,
    verifications,
  }
}
