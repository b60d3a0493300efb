import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { ROOT } from '../arch/source.ts'

/** A daemon in a process of its own, as its users run it. */
export interface DaemonProcess {
  readonly url: string
  readonly child: ChildProcess
  /** Everything it printed so far. */
  output(): string
  /** Ends it as given and resolves with its exit code; null after a signal. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

export type Env = Readonly<Record<string, string>>

/**
 * Starts `keyhook serve --dev` from the build and waits until it says where it listens.
 *
 * @param root the folder of the built package, where it is not this repository
 * @param limits.openFiles what the process may have open; default as many as this one
 * @param limits.flags of Node. Default: none
 * @param limits.command of the command line. Default: `serve --dev`
 */
export async function startDaemonProcess(
  env: Env,
  root: string = ROOT,
  {
    openFiles,
    flags = [],
    command: asked = ['serve', '--dev'],
  }: {
    readonly openFiles?: number
    readonly flags?: readonly string[]
    readonly command?: readonly string[]
  } = {},
): Promise<DaemonProcess> {
  const serve = [process.execPath, ...flags, 'dist/daemon/main.js', ...asked]
  const limited = ['sh', '-c', `ulimit -n ${openFiles} && exec "$0" "$@"`, ...serve]
  const [command = '', ...args] = openFiles === undefined ? serve : limited
  const child = spawn(command, args, {
    cwd: root,
    env: { PATH: process.env['PATH'], KEYHOOK_PORT: '0', KEYHOOK_APPS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    const read = (line: string): void => {
      lines.push(line)
      const [found] = /https?:\/\/[\w.-]+:\d+/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    }
    createInterface(child.stdout).on('line', read)
    createInterface(child.stderr).on('line', (line) => lines.push(line))
    child.once('exit', (code) => {
      reject(new Error(`the daemon ended with ${String(code)}: ${lines.join('\n')}`))
    })
  })
  return {
    url,
    child,
    output: () => lines.join('\n'),
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const exited = once(child, 'exit') as Promise<[number | null]>
      child.kill(signal)
      const [code] = await exited
      return code
    },
  }
}

/** Waits until a condition holds, asking again and again; rejects when it does not in time. */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  within = 60_000,
): Promise<void> {
  const end = Date.now() + within
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${within} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
