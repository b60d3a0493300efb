import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { until } from './daemon.ts'
import type { Packed } from './packed.ts'
import type { Block } from './page.ts'
import { blocksOf } from './page.ts'
import { freePort } from './free-port.ts'

/** What docs/embed.md tells to install for each of its databases, by the page's own names for them. */
export const DATABASES = {
  'sequelize-sqlite': ['sequelize', 'sqlite3'],
  'sequelize-postgres': ['sequelize', 'pg'],
  pool: ['pg'],
  drizzle: ['drizzle-orm', 'pg'],
  kysely: ['kysely', 'pg'],
  'own-file': [],
} as const

export type Database = keyof typeof DATABASES

/** And for each of its servers. */
const SERVERS = {
  express: ['express'],
  koa: ['koa'],
  fastify: ['fastify'],
  hono: ['hono', '@hono/node-server'],
  'node-http': [],
} as const

export interface ShopChoice {
  readonly database: Database
  readonly server: keyof typeof SERVERS
  readonly databaseUrl?: string | undefined
}

/** The shop of docs/embed.md in a folder of its own, beside the packed package. */
export interface Shop {
  readonly folder: string
  /** The page, with the ports of this shop. */
  readonly blocks: readonly Block[]
  /** The only variables that its programs see. */
  readonly env: NodeJS.ProcessEnv
  /**
   * Runs a program in the folder and answers what it printed.
   *
   * @param ending the signal that it ends by; null: it ends by itself, with 0
   */
  run(program: string, ending?: 'SIGKILL' | null): Promise<string>
  /** Starts its server, by default `server.mjs` in Node. */
  start(command?: Command): Promise<RunningShop>
}

export interface RunningShop {
  readonly url: string
  /** Everything it printed so far, on both streams. */
  printed(): string
  /** Ends it by SIGTERM and resolves with its exit code. */
  stop(): Promise<number | null>
}

export async function openShop(packed: Packed, choice: ShopChoice): Promise<Shop> {
  const { database, server, databaseUrl } = choice
  const port = await freePort()
  const folder = await packed.install([...DATABASES[database], ...SERVERS[server]])
  const blocks = blocksOf('embed.md', { 3000: port, 9000: await freePort() })
  for (const { kind, text } of blocks) {
    const [language, file, variant = server] = kind.split(' ')
    const isTaken = language === 'js' && (variant === database || variant === server)
    if (!isTaken || file === undefined) continue
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  await writeFile(join(folder, 'master-key'), `k1:${Buffer.alloc(32, 7).toString('base64')}\n`)
  const env = {
    PATH: process.env['PATH'],
    SHOP_WEBHOOK_ALLOW: '127.0.0.1',
    DATABASE_URL: databaseUrl,
  }
  return {
    folder,
    blocks,
    env,
    async run(program, ending = null) {
      await writeFile(join(folder, 'program.mjs'), program)
      const { child, printed } = startIn(folder, env, [process.execPath, 'program.mjs'])
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
      if (signal === ending && (code ?? 0) === 0) return printed()
      throw new Error(`ended with ${String(signal ?? code)}: ${printed()}`)
    },
    start: (command = [process.execPath, 'server.mjs']) =>
      serve(folder, env, `http://127.0.0.1:${port}`, command),
  }
}

type Command = readonly [program: string, ...args: string[]]

async function serve(
  folder: string,
  env: NodeJS.ProcessEnv,
  url: string,
  command: Command,
): Promise<RunningShop> {
  const { child, printed } = startIn(folder, env, command)
  const exited = once(child, 'exit') as Promise<[number | null]>
  const document = `${url}/developer/v1/openapi.json`
  const answers = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${printed()}`)
    return fetch(document).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  try {
    await until('the shop answers', answers)
  } catch (cause) {
    child.kill('SIGKILL')
    throw cause
  }
  return {
    url,
    printed,
    async stop() {
      child.kill('SIGTERM')
      const [code] = await exited
      return code
    },
  }
}

function startIn(
  cwd: string,
  env: NodeJS.ProcessEnv,
  [program, ...args]: Command,
): { readonly child: ChildProcess; printed(): string } {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const orphan = (): void => void child.kill('SIGKILL')
  process.once('exit', orphan)
  child.once('exit', () => process.off('exit', orphan))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  }
  return { child, printed: () => output }
}
