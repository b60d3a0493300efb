import { join } from 'node:path'
import { createApi } from '../crash/api.ts'
import { followJournal } from '../crash/journal.ts'
import type { Arrival } from '../crash/receiver.ts'
import { startRole } from '../crash/supervisor.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import type { Fleet, Member } from './fleet.ts'
import { MARGIN, TIMEOUT } from './fleet.ts'
import type { FleetLedger } from './invariants.ts'
import { rest } from './steady.ts'

export interface ZombieOptions {
  readonly fleet: Fleet
  readonly ledger: FleetLedger
  readonly folder: string
  readonly cycles: number
  readonly random: SeededRandom
  readonly progress: (line: string) => void
}

export interface ZombieResult {
  cycles: number
  deliveries: number
  /** Claims of a paused daemon that another took over. */
  takenOver: number
  /** Of them, those whose request was under way, so that the paused one had an outcome to offer. */
  offered: number
  /** Taken over and not yet recorded when the paused one went on. */
  underWay: number
  /** Deliveries that arrived more than once. */
  repeated: number
}

/** Through the paused one, and through each of the others. */
const BURST = 40
const BESIDE = 5
const LONGEST_WAIT = 700
/** What a server was told before the pause is done within this. */
const LANDS = 250
const UNDER_WAY_WITHIN = 10_000
const TAKEN_WITHIN = 20_000
const QUIET_WITHIN = 30_000
/** How often a daemon may have nothing left to send when it is paused, in all cycles. */
const IDLE_PAUSES = 20

interface Row {
  readonly number: number
  readonly started_at: number
  readonly status_code: number | null
}

/** Pauses one daemon after another for longer than its claims last, and lets it go on. */
export async function runZombies(options: ZombieOptions): Promise<ZombieResult> {
  const { fleet, ledger, folder, cycles, random, progress } = options
  const journal = join(folder, 'receiver.jsonl')
  const receiver = await startRole('receiver', journal)
  const arrivals = followJournal<Arrival>(journal)
  const came = new Map<string, Arrival[]>()
  const result: ZombieResult = {
    cycles: 0,
    deliveries: 0,
    takenOver: 0,
    offered: 0,
    underWay: 0,
    repeated: 0,
  }
  function reread(): void {
    for (const arrival of arrivals.next()) {
      came.set(arrival.delivery, [...(came.get(arrival.delivery) ?? []), arrival])
    }
  }

  async function publish(member: Member, account: string, count: number): Promise<void> {
    const api = createApi([member.origin], fleet.operator, account)
    const events = Array.from({ length: count }, () => ({ type: 'fleet.paused', data: {} }))
    await api.ask('POST', '/v1/events', { events })
  }

  async function untilQuiet(): Promise<void> {
    const end = Date.now() + QUIET_WITHIN
    for (;;) {
      const [left] = await fleet.ask(
        'SELECT count(*) AS count FROM keyhook_deliveries WHERE done_at IS NULL',
      )
      const unrecorded = await Promise.all(
        fleet.members.map(async (member) => {
          const made = await fleet.metric(member, 'keyhook_attempts_total')
          return made - (await fleet.metric(member, 'keyhook_attempts_recorded_total'))
        }),
      )
      const isQuiet = Number(left?.['count']) === 0 && unrecorded.every((count) => count === 0)
      if (isQuiet || Date.now() > end) {
        ledger.check('settled.all', isQuiet, () => {
          return `${String(left?.['count'])} left, ${unrecorded.join()} unrecorded`
        })
        return
      }
      await rest(50)
    }
  }

  async function claimsOf(member: Member): Promise<ReadonlyMap<string, string>> {
    const rows = await fleet.ask(
      'SELECT id, claim FROM keyhook_deliveries WHERE done_at IS NULL AND starts_with(claim, $1)',
      [member.claimant()],
    )
    return new Map(rows.map(({ id, claim }) => [String(id), String(claim)]))
  }

  /** Waits for the arrival of a delivery that the daemon claims: its outcome is still to come. */
  async function untilUnderWay(member: Member): Promise<void> {
    const end = Date.now() + UNDER_WAY_WITHIN
    while (Date.now() < end) {
      const claims = await claimsOf(member)
      reread()
      if ([...claims.keys()].some((id) => came.has(id))) return
      await rest(10)
    }
  }

  /** Resolves once none of these claims holds any more. */
  async function untilTaken(member: Member): Promise<void> {
    const end = Date.now() + TAKEN_WITHIN
    while ((await claimsOf(member)).size > 0) {
      if (Date.now() > end) throw new Error('claims of a paused daemon were not taken over')
      await rest(20)
    }
  }

  async function attemptsOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly Row[]>> {
    const rows = await fleet.ask(
      'SELECT * FROM keyhook_attempts WHERE delivery_id = ANY ($1) ORDER BY number',
      [ids],
    )
    const found = new Map<string, Row[]>(ids.map((id) => [id, []]))
    for (const row of rows) {
      found.get(String(row['delivery_id']))?.push({
        number: Number(row['number']),
        started_at: Number(row['started_at']),
        status_code: row['status_code'] === null ? null : Number(row['status_code']),
      })
    }
    return found
  }

  /** Resolves to whether the daemon held claims when it was paused: only then is it a cycle. */
  async function cycle(member: Member, account: string): Promise<boolean> {
    const others = fleet.members.filter((one) => one !== member)
    came.clear()
    const began = new Date().toISOString()
    await Promise.all(others.map((other) => publish(other, account, BESIDE)))
    await publish(member, account, BURST)
    // In every other cycle with requests under way, otherwise anywhere: also before the first is sent.
    if (result.cycles % 2 === 0) await untilUnderWay(member)
    else await rest(random.below(LONGEST_WAIT))
    member.pause()
    const paused = Date.now()
    await rest(LANDS)
    const held = [...(await claimsOf(member)).keys()]
    // An attempt that failed before the pause is on record, and is no late outcome of the daemon.
    const earlier = await attemptsOf(held)
    await untilTaken(member)
    const taken = Date.now()
    // It comes back while those who took over still send, or after they recorded.
    if (random.oneIn(2)) await rest(random.below(2 * TIMEOUT))
    const before = await attemptsOf(held)
    member.goOn()
    await untilQuiet()
    reread()
    result.deliveries += came.size
    result.takenOver += held.length
    result.underWay += held.filter(
      (id) => before.get(id)?.length === earlier.get(id)?.length,
    ).length

    // Between the pause and the first that was taken over lies what is left of a claim, no less than
    // the margin less what was let land.
    const stale = paused + MARGIN - LANDS
    const after = await attemptsOf([...new Set([...held, ...came.keys()])])
    for (const id of held) {
      const sent = came.get(id) ?? []
      const rows = (after.get(id) ?? []).slice(earlier.get(id)?.length)
      const said = (): string =>
        `${id}, ${JSON.stringify({ began, paused, taken, before: before.get(id), rows, sent })}`
      // One more request than is on record: its outcome comes late.
      if (sent.filter(({ at }) => at < stale).length > (earlier.get(id)?.length ?? 0))
        result.offered++
      ledger.check(
        'outcome.own',
        rows.every(({ started_at }) => started_at >= stale),
        said,
      )
      const answers = sent.filter(({ at }) => at >= stale).map(({ answer }) => answer)
      ledger.check(
        'outcome.own',
        // One that timed out on a busy machine may not have arrived.
        rows.every(({ status_code }) => status_code === null || answers.includes(status_code)),
        said,
      )
      const kept = before.get(id) ?? []
      ledger.check(
        'outcome.stays',
        kept.every((row, at) => JSON.stringify(row) === JSON.stringify(after.get(id)?.[at])),
        said,
      )
    }
    for (const [id, sent] of came) {
      if (sent.length > 1) result.repeated++
      const bytes = new Set(sent.map(({ event, hash }) => `${event} ${hash}`))
      ledger.check('duplicates.same', bytes.size === 1, () => `${id}: ${JSON.stringify(sent)}`)
      // One success, each attempt on record that no answer came to, and the request of the paused daemon.
      const failed = (after.get(id) ?? []).filter(({ status_code }) => status_code === null).length
      const isBounded = sent.length <= 1 + failed + (held.includes(id) ? 1 : 0)
      ledger.check(
        'duplicates.bounded',
        isBounded,
        () => `${id} ${held.includes(id)}: ${JSON.stringify(sent)}`,
      )
    }
    if (held.length > 0) result.cycles++
    progress(
      `${result.cycles} cycles; ${held.length} claims taken over after ${taken - paused} ms, ` +
        `${result.offered} outcomes offered late so far, ${ledger.violations.length} violations`,
    )
    return held.length > 0
  }

  try {
    const port = await receiver.say<number>(undefined)
    const origins = fleet.members.map(({ origin }) => origin)
    const account = 'fleet-zombies'
    await createApi(origins, fleet.operator).ask('POST', '/v1/accounts', {
      name: account,
      id: account,
    })
    const api = createApi(origins, fleet.operator, account)
    await api.ask('PUT', '/v1/event-types/fleet.paused')
    const url = `http://127.0.0.1:${port}/patient/paused`
    await api.ask('POST', '/v1/webhooks', { url, events: ['fleet.paused'] })
    let idle = 0
    while (result.cycles < cycles && idle < IDLE_PAUSES && ledger.violations.length === 0) {
      const member = fleet.members[result.cycles % fleet.members.length]
      if (member !== undefined && !(await cycle(member, account))) idle++
    }
    return result
  } finally {
    arrivals.close()
    receiver.child.kill('SIGKILL')
  }
}
