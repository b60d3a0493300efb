import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { RunningDaemon } from '../crash/daemon.ts'
import { standBy } from '../crash/daemon.ts'
import type { Proxy } from '../support/proxy.ts'
import { startProxy } from '../support/proxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { rest } from './steady.ts'
import { freePort } from '../support/free-port.ts'

/** One of the daemons that share the database, behind a proxy of its own. */
export interface Member {
  readonly origin: string
  readonly proxy: Proxy
  /** What its claims begin with. */
  claimant(): string
  start(): Promise<void>
  /** SIGKILL; it is started again by `start`. */
  kill(): Promise<void>
  pause(): void
  goOn(): void
  /** How it ended, should it have ended by itself. */
  readonly death: string | undefined
}

export interface Fleet {
  readonly members: readonly Member[]
  readonly operator: string
  /** Reads the database beside the daemons. */
  ask(
    sql: string,
    values?: readonly unknown[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Resolves once each of them can write; answers those that cannot in time. */
  ready(within: number): Promise<readonly Member[]>
  /** A metric's values at one of them, summed over labels, or of one label. */
  metric(member: Member, name: string, label?: string): Promise<number>
  close(): Promise<void>
}

/** How long an attempt may take, and what is beyond it until others take over. */
export const TIMEOUT = 1000
export const MARGIN = 1000
const OPERATOR = 'the-operator-of-a-fleet-of-daemons'
const READY_IN_A_ROW = 3

export async function startFleet(
  folder: string,
  { daemons, mutant }: { readonly daemons: number; readonly mutant: string | undefined },
): Promise<Fleet> {
  const server = await startPostgres()
  const url = await server.createDatabase()
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => undefined)
  const ask: Fleet['ask'] = async (sql, values = []) => {
    const { rows } = await pool.query<Record<string, unknown>>(sql, [...values])
    return rows
  }
  const members: Member[] = []
  const shared = {
    KEYHOOK_MASTER_KEY: `fleet:${randomBytes(32).toString('base64')}`,
    KEYHOOK_OWNER_EMAIL: 'owner@example.com',
    KEYHOOK_OWNER_PASSWORD: 'a long password',
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    KEYHOOK_WEBHOOK_ALLOW: '127.0.0.0/8',
    KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '1,1,1,1,1,1,1,1',
    KEYHOOK_WEBHOOK_TIMEOUT_MS: String(TIMEOUT),
    KEYHOOK_WEBHOOK_LEASE_MARGIN_MS: String(MARGIN),
    KEYHOOK_WEBHOOK_DISABLE_FAILURES: '100000',
    KEYHOOK_RATE_READS: '0',
    KEYHOOK_RATE_WRITES: '0',
    KEYHOOK_LOG_LEVEL: 'warn',
  }
  for (let index = 0; index < daemons; index++) {
    const data = join(folder, `data-${index}`)
    await mkdir(data, { mode: 0o700 })
    const proxy = await startProxy(url)
    const port = await freePort()
    const env = {
      ...shared,
      KEYHOOK_DATA_DIR: data,
      KEYHOOK_PORT: String(port),
      KEYHOOK_APPS_PORT: '0',
      KEYHOOK_DATABASE_URL: proxy.url,
    }
    const member = createMember({
      env,
      origin: `http://127.0.0.1:${port}`,
      proxy,
      mutant,
      folder,
      index,
      claimants: async () => {
        const rows = await ask('SELECT id FROM keyhook_processes ORDER BY joined_at')
        return rows.map(({ id }) => String(id))
      },
    })
    await member.start()
    members.push(member)
  }

  // A harness that breaks off leaves no daemon behind.
  const ending = (): void => {
    for (const member of members) void member.kill()
  }
  process.once('exit', ending)

  async function isReady({ origin }: Member): Promise<boolean> {
    const answer = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(
      () => undefined,
    )
    return answer?.ok === true
  }

  return {
    members,
    operator: OPERATOR,
    ask,
    async ready(within) {
      const end = Date.now() + within
      const inARow = new Map(members.map((member) => [member, 0]))
      const late = (): Member[] =>
        members.filter((member) => (inARow.get(member) ?? 0) < READY_IN_A_ROW)
      while (late().length > 0 && Date.now() < end) {
        await Promise.all(
          late().map(async (member) => {
            inARow.set(member, (await isReady(member)) ? (inARow.get(member) ?? 0) + 1 : 0)
          }),
        )
        await rest(100)
      }
      return late()
    },
    async metric({ origin }, name, label = '') {
      const headers = { authorization: `Bearer ${OPERATOR}` }
      const text = await (await fetch(`${origin}/metrics`, { headers })).text()
      return text
        .split('\n')
        .filter((line) => /^[^ {]*/.exec(line)?.[0] === name && line.includes(label))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
    },
    async close() {
      process.off('exit', ending)
      for (const member of members) {
        member.goOn()
        await member.kill()
        await member.proxy.close()
      }
      await pool.end()
      await server.stop()
    },
  }
}

interface MemberOptions {
  readonly env: Readonly<Record<string, string>>
  readonly origin: string
  readonly proxy: Proxy
  readonly mutant: string | undefined
  readonly folder: string
  readonly index: number
  /** Of every process that the database knows. */
  readonly claimants: () => Promise<readonly string[]>
}

function createMember(options: MemberOptions): Member {
  const { env, origin, proxy, mutant, folder, index, claimants } = options
  let daemon: RunningDaemon | undefined
  let claimant = ''
  let death: string | undefined
  return {
    origin,
    proxy,
    get death() {
      return death
    },
    claimant: () => claimant,
    async start() {
      const before: readonly string[] = await claimants().catch(() => [])
      const standby = standBy(env, join(folder, `daemon-${index}.log`))
      const started = standby.go({ mutant, log: join(folder, 'reached') })
      daemon = started
      death = undefined
      void started.ended.then(({ code, signal }) => {
        if (daemon === started) death = `${index} ended with ${String(signal ?? code)}`
      })
      await started.ready
      claimant = (await claimants()).find((id) => !before.includes(id)) ?? ''
    },
    async kill() {
      const killed = daemon
      daemon = undefined
      killed?.kill('SIGKILL')
      await killed?.ended
    },
    pause() {
      daemon?.kill('SIGSTOP')
    },
    goOn() {
      daemon?.kill('SIGCONT')
    },
  }
}
