import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A role of the bench in a process of its own, driven by calls. */
export interface Child {
  call<T>(name: string, input?: unknown): Promise<T>
  end(): Promise<void>
}

const PATIENCE_MS = 5000
/** As `npm start` sets them, the last in `daemon/main.ts`; the baselines too. */
export const SETTINGS: readonly string[] = [
  '--max-old-space-size=512',
  '--initial-old-space-size=128',
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
]

/** As `npm start`, the unit and the image set them: malloc keeps less of what is free. */
export const MALLOC: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '65536',
}

/** Starts `role`: a module in the folder of roles, which serves. */
export function startChild(role: string): Child {
  const child = fork(fileURLToPath(new URL(`roles/${role}.js`, import.meta.url)), {
    execArgv: [...SETTINGS],
    // What a role prints is no part of the JSON.
    stdio: ['ignore', 2, 2, 'ipc'],
    // JSON would make null of what is no number.
    serialization: 'advanced',
  })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(cause: Error): void }>()
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let last = 0
  child.on('message', ({ id, value, error }: { id: number; value?: unknown; error?: string }) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(value)
    else call?.reject(new Error(`${role}: ${error}`))
  })
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${role} ended: ${code ?? signal}`))
  })
  return {
    call: <T>(name: string, input?: unknown) =>
      new Promise<T>((resolve, reject) => {
        last++
        waiting.set(last, { resolve: resolve as (value: unknown) => void, reject })
        child.send({ id: last, name, input }, (cause) => {
          if (cause !== null) reject(cause)
        })
      }),
    async end() {
      if (child.connected) child.disconnect()
      const killing = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
      await ended
      clearTimeout(killing)
    },
  }
}
