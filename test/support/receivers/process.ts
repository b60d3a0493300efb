import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { until } from '../daemon.ts'
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

/** Starts a receiver that knows `secrets`, and waits until it answers; rejects when it ends instead. */
export async function serve(
  [program, ...args]: Command,
  cwd: string,
  port: number,
  secrets: readonly string[],
): Promise<ReceiverProcess> {
  const env = environment(secrets.join(','))
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  }
  const exited = once(child, 'exit')
  const end = async (): Promise<void> => {
    child.kill()
    await exited
  }
  const answers = async () => (await send(port, '')) !== 'closed'
  try {
    await Promise.race([
      until(`${program} ${args.join(' ')} answers`, answers),
      exited.then(([code]) => Promise.reject(new Error(`ended with ${String(code)}: ${printed}`))),
    ])
  } catch (error) {
    await end()
    throw error
  }
  return { printed: () => printed, end }
}

/** Posts a delivery; `closed` when the receiver hung up instead of answering. */
export async function send(
  port: number,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number | 'closed'> {
  const request = { method: 'POST', headers, body: Buffer.from(body) }
  return fetch(`http://127.0.0.1:${port}/in`, request).then(
    ({ status }) => status,
    () => 'closed',
  )
}
