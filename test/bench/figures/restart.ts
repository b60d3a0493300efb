import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { MALLOC, SETTINGS } from '../child.ts'
import { now } from '../clock.ts'
import type { Figure, Values } from '../figure.ts'
import type { Arrivals } from '../roles/receiver.ts'
import type { Round } from '../round.ts'
import { backlogOf } from '../stock.ts'

const PROGRAM = fileURLToPath(new URL('../../../daemon/main.js', import.meta.url))

const NPM_FORM = [process.execPath, ...SETTINGS, PROGRAM] as const

interface Started {
  readonly url: string
  readonly pid: number
}

/** `keyhook serve` as its users run it, until it says where it serves. */
export async function serveAt(
  round: Round,
  env: Readonly<Record<string, string>>,
  [command, ...args]: readonly [string, ...string[]] = NPM_FORM,
): Promise<Started> {
  const child = spawn(command, [...args, 'serve', '--dev', '--json'], {
    env: { PATH: process.env['PATH'], ...MALLOC, ...env },
    stdio: ['ignore', 'pipe', 2],
  })
  const ended = once(child, 'exit')
  round.leftovers.add(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').once('data', resolve)
    child.once('exit', (code) => {
      reject(new Error(`the daemon ended with ${String(code)}`))
    })
  })
  return { url: (JSON.parse(line) as { url: string }).url, pid: child.pid ?? 0 }
}

async function measure(round: Round): Promise<Values> {
  const stock = backlogOf(round.backlog)
  const { env } = await round.place('sqlite', stock)
  const { child: receiver } = await round.receiver()
  const started = now()
  const { url, pid } = await serveAt(round, env)
  const { status } = await fetch(`${url}/readyz`)
  const ready = now()
  if (status !== 200) throw new Error(`readyz answered ${status}`)
  const { first, last } = await receiver.call<Arrivals>('until', stock.pending)
  return {
    'ready s': (ready - started) / 1e6,
    'first send s later': Math.max(0, first - ready) / 1e6,
    'all sent s later': (last - ready) / 1e6,
    'peak resident MB': await peakResident(pid),
  }
}

/** The kernel's own record of the most that was resident, from the start on. */
export async function peakResident(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(text)?.[1]) / 1024
}

export const restart: Figure = {
  name: 'restart',
  title: 'restart with a backlog, SQLite',
  baseline: null,
  goals: [
    { value: 'ready s', at_most: 5 },
    { value: 'first send s later', at_most: 2 },
    { value: 'peak resident MB', at_most: 300 },
  ],
  takes: 10,
  measure,
}
