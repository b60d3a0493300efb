import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { MINUTE } from '../../../lib/time.ts'
import { until } from '../daemon.ts'
import { send } from './send.ts'
import type { Command } from './languages.ts'

/** A receiver of the page, in a process of its own. */
export interface ReceiverProcess {
  /** What it printed so far, on both streams. */
  printed(): string
  end(): Promise<void>
}

/** The only variables that the page's programs see. */
const environment = (secrets = ''): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  WEBHOOK_SECRETS: secrets,
  // It starts in half the time.
  JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1',
})

/** The first line that a runtime says about itself; undefined where its command fails. */
export function versionOf([program, ...args]: Command): string | undefined {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return status === 0 ? (stdout || stderr).split('\n')[0] : undefined
}

/** Runs a program to its end and answers what it printed; rejects when it fails. */
export async function run([program, ...args]: Command, cwd: string, input = ''): Promise<string> {
  const running = promisify(execFile)(program, args, { cwd, env: environment() })
  running.child.stdin?.end(input)
  return (await running).stdout
}

/** What is compiled is run for seconds: without symbols and what no receiver uses it takes half as long. */
const QUICK = { CARGO_PROFILE_DEV_DEBUG: '0', GOFLAGS: '-tags=nomsgpack' }

/** What commands of a page said, unless they succeeded. Tools find their registries in the whole environment. */
export async function failureOf(commands: string, cwd: string): Promise<string | undefined> {
  const env = { ...process.env, ...QUICK }
  const child = spawn('sh', ['-ec', commands], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0 ? undefined : `${commands}: ${printed.slice(-4000)}`
}

/** Starts a receiver that knows `secrets`, and waits until it answers; rejects when it ends instead. */
export async function serve(
  command: string,
  cwd: string,
  port: number,
  secrets: readonly string[],
): Promise<ReceiverProcess> {
  const env = environment(secrets.join(','))
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  }
  const closed = once(child, 'close')
  const end = async (): Promise<void> => {
    child.kill('SIGKILL')
    await closed
  }
  const answers = async () => (await send(port, '')) !== 'closed'
  try {
    await Promise.race([
      until(`${command} answers`, answers, 3 * MINUTE),
      closed.then(([code]) => Promise.reject(new Error(`ended with ${String(code)}: ${printed}`))),
    ])
  } catch (error) {
    await end()
    throw error
  }
  return { printed: () => printed, end }
}
