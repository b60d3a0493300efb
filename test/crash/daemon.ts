import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Go } from './preload.ts'

/** A daemon's process: its modules are loaded, and it waits for the word. */
export interface Standby {
  go(word: Go): RunningDaemon
  discard(): void
}

export interface RunningDaemon {
  /** Resolves with its address once it serves; rejects with what it said when it ends before. */
  readonly ready: Promise<string>
  /** Resolves when the process ended, by whatever signal or code. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2'): void
}

const built = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Starts the built daemon with the preload; it does nothing before it is told to go. */
export function standBy(env: Readonly<Record<string, string>>, logFile: string): Standby {
  const child = spawn(
    process.execPath,
    ['--import', built('test/crash/preload.js'), built('daemon/main.js'), 'serve'],
    { env: { PATH: process.env['PATH'], ...env }, stdio: ['pipe', 'pipe', 'pipe'] },
  )
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ code, signal })
    })
  })
  child.stdin.on('error', () => undefined)
  return {
    go(word) {
      const ready = readiness(child, logFile)
      ready.catch(() => undefined)
      child.stdin.write(`${JSON.stringify(word)}\n`)
      return {
        ready,
        ended,
        kill(signal) {
          child.kill(signal)
        },
      }
    },
    discard() {
      child.kill('SIGKILL')
    },
  }
}

async function readiness(child: ChildProcess, logFile: string): Promise<string> {
  const said: string[] = []
  const log = createWriteStream(logFile, { flags: 'a' })
  const { stdout, stderr } = child
  if (stdout === null || stderr === null) throw new Error('a daemon has its output piped')
  stderr.pipe(log)
  createInterface(stderr).on('line', (line) => {
    if (said.length < 50) said.push(line)
  })
  return new Promise((resolve, reject) => {
    createInterface(stdout).on('line', (line) => {
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    void once(child, 'exit').then(() => {
      reject(new Error(`the daemon ended before it served: ${said.join('\n')}`))
    })
  })
}
