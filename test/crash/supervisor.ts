import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Span } from './clock/timeline.ts'
import type { RunningDaemon, Standby } from './daemon.ts'
import { standBy } from './daemon.ts'
import type { CrashDatabase } from './database.ts'
import { SCHEDULE, TIMEOUT } from './facts.ts'
import { openJournal } from './journal.ts'
import { freePort } from '../support/free-port.ts'

/** Keeps one daemon running and makes it die; beside it others may serve the same database. */
export interface Supervisor {
  /** Of the one that dies, and then of the others. */
  readonly origins: readonly [string, ...string[]]
  readonly operator: string
  /** When there was no daemon, or no server. */
  readonly downtimes: Span[]
  /** From each crash of the database's server until the daemon was ready again. */
  readonly serverCrashes: Span[]
  readonly inFlight: ReadonlyMap<string, number>
  /** Whether the one that dies answers now. */
  readonly isServing: boolean
  /** Resolves when it serves next, should it live to. */
  untilServing(): Promise<void>
  /** Starts the others, which live on. */
  startOthers(): Promise<void>
  /** How others ended that were to live on. */
  readonly lost: readonly string[]
  /** Starts the daemon and waits until it serves; false when it died on the way there. */
  start(failpoint?: string): Promise<boolean>
  /** Ends the daemon, or waits for its end; answers how it ended. */
  die(how: Death): Promise<End>
  /** What is only warm yet is ended too. */
  close(): Promise<void>
}

export interface Death {
  /** Waits so long for its own end, then sends the signal. */
  readonly after: number
  readonly signal: 'SIGKILL' | 'SIGTERM'
}

export interface End {
  readonly code: number | null
  readonly signal: string | null
  /** The failpoint that it reached; undefined when the end came from outside. */
  readonly reached: string | undefined
  /** Whether a signal was sent. */
  readonly isAsked: boolean
  readonly leftClaimed: number
}

export interface SupervisorOptions {
  readonly folder: string
  readonly database: CrashDatabase
  readonly mutant: string | undefined
  /** All of them. */
  readonly daemons: number
  /** The file of a clock that is wrong. */
  readonly clock: string | undefined
}

/** A server that was just left may not have noticed yet that its client is gone. */
const STARTS = 20
const START_AGAIN = 150
/** Processes that load their modules while the daemon before them runs. */
const WARM = 2
const STOPS_WITHIN = 30_000
/** Never reached; but a clock that jumps must not use them up. */
const MANY = '1000000'
const OPERATOR = 'the operator of a crashing daemon'.replaceAll(' ', '-')

export async function createSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { folder, database, mutant, daemons, clock } = options
  const port = await freePort()
  const otherPorts = await Promise.all(Array.from({ length: daemons - 1 }, freePort))
  const journal = openJournal(join(folder, 'supervisor.jsonl'))
  const reachedFile = join(folder, 'reached')
  const downtimes: Span[] = []
  const serverCrashes: Span[] = []
  const inFlight = new Map<string, number>()
  let diedAt: number | undefined
  let isServing = false
  const waiters: (() => void)[] = []
  let daemon: RunningDaemon | undefined
  const ready: Standby[] = []

  const rates = clock === undefined ? '0' : MANY
  const env = {
    ...database.env,
    KEYHOOK_DATA_DIR: join(folder, 'data'),
    KEYHOOK_PORT: String(port),
    KEYHOOK_APPS_PORT: '0',
    KEYHOOK_OWNER_EMAIL: 'owner@example.com',
    KEYHOOK_OWNER_PASSWORD: 'a long password',
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    KEYHOOK_WEBHOOK_ALLOW: '127.0.0.0/8',
    KEYHOOK_WEBHOOK_RETRY_SCHEDULE: SCHEDULE.join(','),
    KEYHOOK_WEBHOOK_TIMEOUT_MS: String(TIMEOUT),
    KEYHOOK_WEBHOOK_DISABLE_FAILURES: '100000',
    KEYHOOK_RATE_READS: rates,
    KEYHOOK_RATE_WRITES: rates,
    KEYHOOK_LOG_LEVEL: 'warn',
  }
  const others: RunningDaemon[] = []
  const living = new Set<string>()
  const lost: string[] = []
  const counted = new Set<string>()
  let isClosing = false
  const warm = (): Standby => standBy(env, join(folder, 'daemon.log'))

  async function startOther(index: number, at: number): Promise<void> {
    const before = await database.processes()
    const data = join(folder, `data-${index}`)
    await mkdir(data, { mode: 0o700 })
    const own = { ...env, KEYHOOK_DATA_DIR: data, KEYHOOK_PORT: String(at) }
    const word = { mutant, log: reachedFile, clock }
    const other = standBy(own, join(folder, `daemon-${index}.log`)).go(word)
    others.push(other)
    void other.ended.then(({ code, signal }) => {
      if (!isClosing) lost.push(`daemon ${index} ended with ${String(signal ?? code)}`)
    })
    await other.ready
    for (const id of await database.processes()) if (!before.includes(id)) living.add(id)
  }

  async function tryStart(failpoint: string | undefined): Promise<'serves' | 'died' | 'refused'> {
    const standby = ready.shift() ?? warm()
    journal.write({ t: 'go', at: Date.now(), failpoint: failpoint ?? null })
    daemon = standby.go({ failpoint, mutant, log: reachedFile, shm: database.shm, clock })
    while (ready.length < WARM) ready.push(warm())
    try {
      await daemon.ready
    } catch (cause) {
      const { signal } = await daemon.ended
      if (signal === 'SIGKILL') return 'died'
      if (String(cause).includes('another process serves')) return 'refused'
      throw cause
    }
    const at = Date.now()
    journal.write({ t: 'ready', at })
    isServing = true
    for (const resolve of waiters.splice(0)) resolve()
    if (diedAt !== undefined && others.length === 0) downtimes.push({ from: diedAt, until: at })
    diedAt = undefined
    return 'serves'
  }

  /** What it had claimed is counted once, however long it takes until others give it back. */
  async function note(): Promise<number> {
    const claims = (await database.inFlight()).filter(
      ({ id, claim }) => !living.has(claim.split('.')[0] ?? '') && !counted.has(`${id} ${claim}`),
    )
    for (const { id, claim } of claims) {
      counted.add(`${id} ${claim}`)
      inFlight.set(id, (inFlight.get(id) ?? 0) + 1)
    }
    return claims.length
  }

  return {
    origins: [originAt(port), ...otherPorts.map(originAt)],
    lost,
    async startOthers() {
      // One after the other, so that it is known whose claims are whose.
      for (const [index, at] of otherPorts.entries()) await startOther(index + 1, at)
    },
    operator: OPERATOR,
    downtimes,
    serverCrashes,
    inFlight,
    get isServing() {
      return isServing
    },
    untilServing: () =>
      new Promise((resolve) => {
        waiters.push(resolve)
      }),
    async start(failpoint) {
      rmSync(reachedFile, { force: true })
      for (let starts = 0; starts < STARTS; starts++) {
        const how = await tryStart(failpoint)
        if (how !== 'refused') return how === 'serves'
        await new Promise((resolve) => setTimeout(resolve, START_AGAIN))
      }
      throw new Error('the daemon could not be started again: its database is still served')
    },
    async die({ after, signal }) {
      if (daemon === undefined) throw new Error('there is no daemon')
      const dying = daemon
      let isAsked = false
      const kill = (by: typeof signal): void => {
        isAsked = true
        dying.kill(by)
      }
      const timers = [
        setTimeout(kill, after, signal),
        setTimeout(kill, after + STOPS_WITHIN, 'SIGKILL'),
      ]
      const ended = await dying.ended
      isServing = false
      for (const timer of timers) clearTimeout(timer)
      diedAt ??= Date.now()
      const leftClaimed = await note()
      const reached = existsSync(reachedFile) ? readFileSync(reachedFile, 'utf8').trim() : undefined
      const end: End = { ...ended, reached, isAsked, leftClaimed }
      journal.write({ t: 'dead', at: Date.now(), ...end })
      return end
    },
    async close() {
      isClosing = true
      for (const standby of ready) standby.discard()
      for (const one of [daemon, ...others]) {
        one?.kill('SIGKILL')
        await one?.ended
      }
      await journal.synced()
    },
  }
}

const originAt = (port: number): string => `http://127.0.0.1:${port}`

/** A process of the harness's own, and the first thing it says. */
export async function startRole(
  role: 'driver' | 'receiver',
  ...flags: readonly string[]
): Promise<{ readonly child: ChildProcess; say<T>(word: unknown): Promise<T> }> {
  const child = fork(fileURLToPath(new URL(`${role}.js`, import.meta.url)), flags, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return {
    child,
    async say<T>(word: unknown) {
      const answered = once(child, 'message') as Promise<[T]>
      if (word !== undefined) child.send(word as object)
      const [answer] = await answered
      return answer
    },
  }
}
