import type { CrashDatabase } from './database.ts'
import type { Ledger } from './ledger.ts'
import type { Planned } from './plan.ts'
import type { Death, End, Supervisor } from './supervisor.ts'

/** What became of the plan. */
export interface Tally {
  readonly kills: Record<Planned['by'], number>
  readonly reached: Set<string>
  readonly missed: Set<string>
  /** What was tried twice. */
  readonly again: Set<string>
}

export function createTally(): Tally {
  return {
    kills: { failpoint: 0, random: 0, term: 0, boot: 0, server: 0 },
    reached: new Set(),
    missed: new Set(),
    again: new Set(),
  }
}

/** Load passes a failpoint within this, or never. */
const REACHED_WITHIN = 30_000
const READY_AGAIN_WITHIN = 20_000
const READY_IN_A_ROW = 10
const TOLD_AFTER = 300
export const AT_ONCE: Death = { after: 0, signal: 'SIGKILL' }

export interface Dying {
  readonly database: CrashDatabase
  readonly supervisor: Supervisor
  readonly ledger: Ledger
  readonly tally: Tally
}

/** Starts a daemon that must not die on the way. */
export async function serve(supervisor: Supervisor): Promise<void> {
  if (!(await supervisor.start())) throw new Error('the daemon died by itself while it started')
}

export function count(tally: Tally, planned: Planned, reached: string | undefined): void {
  if (planned.by !== 'failpoint') tally.kills[planned.by]++
  else if (reached === undefined) {
    tally.missed.add(`${planned.point.name}:${planned.nth}`)
    tally.kills.random++
  } else {
    tally.reached.add(reached)
    tally.kills.failpoint++
  }
}

/** Starts a daemon and lets it die; answers whether it died where it was to. */
export async function dieAsPlanned(dying: Dying, planned: Planned): Promise<boolean> {
  const { supervisor, ledger, tally } = dying
  if (planned.by === 'server') {
    await crashServer(dying, planned.after)
    count(tally, planned, undefined)
    return true
  }
  if (planned.by === 'boot') {
    const starting = supervisor.start()
    const { signal } = await supervisor.die({ after: planned.after, signal: 'SIGKILL' })
    // Its database may have been served still: then it ended by itself, and another was started.
    if ((await starting) && signal === null) await supervisor.die(AT_ONCE)
    count(tally, planned, undefined)
    return true
  }
  if (planned.by === 'failpoint') {
    const { point, nth } = planned
    const isServed = await supervisor.start(`${point.name}:${nth}`)
    const isTold = point.at === 'close'
    const after = !isServed ? 0 : isTold ? TOLD_AFTER : REACHED_WITHIN
    const signal = isTold ? 'SIGTERM' : 'SIGKILL'
    const end = await supervisor.die({ after, signal })
    count(tally, planned, end.reached)
    checkEnd(ledger, end)
    return end.reached !== undefined
  }
  await serve(supervisor)
  const isTold = planned.by === 'term'
  const end = await supervisor.die({
    after: planned.after,
    signal: isTold ? 'SIGTERM' : 'SIGKILL',
  })
  const { code, leftClaimed } = end
  if (!isTold) checkEnd(ledger, end)
  else {
    ledger.check('stop.clean', code === 0 && leftClaimed === 0, () => {
      return `told to stop, it ended with ${code} and left ${leftClaimed} deliveries claimed`
    })
  }
  count(tally, planned, undefined)
  return true
}

/** The daemon goes on: once it is ready again it serves a while, and then dies too. */
async function crashServer({ supervisor, ledger, database }: Dying, after: number): Promise<void> {
  await serve(supervisor)
  await new Promise((resolve) => setTimeout(resolve, after))
  const from = Date.now()
  await database.crash?.()
  const isReady = await isReadyWithin(supervisor.origins[0], READY_AGAIN_WITHIN)
  const crash = { from, until: Date.now() }
  supervisor.downtimes.push(crash)
  supervisor.serverCrashes.push(crash)
  ledger.check('server.outlived', isReady, () => `not ready within ${READY_AGAIN_WITHIN} ms`)
  checkEnd(ledger, await supervisor.die({ after, signal: 'SIGKILL' }))
}

async function isReadyWithin(origin: string, within: number): Promise<boolean> {
  const end = Date.now() + within
  // What was ready before the server noticed its crash says nothing.
  let inARow = 0
  while (Date.now() < end && inARow < READY_IN_A_ROW) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const { ok } = await fetch(`${origin}/readyz`).catch(() => ({ ok: false }))
    inARow = ok ? inARow + 1 : 0
  }
  return inARow === READY_IN_A_ROW
}

function checkEnd(ledger: Ledger, { code, signal, reached, isAsked }: End): void {
  const isOurs = signal === 'SIGKILL' && (isAsked || reached !== undefined)
  ledger.check('daemon.lives', isOurs, () => `it ended by itself with ${signal ?? code}`)
}
