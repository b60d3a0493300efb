import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A role of the bench in a process of its own, driven by calls. */
export interface Child {
  call<T>(name: string, input?: unknown): Promise<T>
  end(): Promise<void>
}

interface Message {
  readonly id: number
  readonly name: string
  readonly input: unknown
}

/** Starts `role` (a module beside this one that calls `serve`). */
export function startChild(role: string): Child {
  const child = fork(fileURLToPath(new URL(`${role}.js`, import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
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
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${role} ended with ${code}`))
  })
  return {
    call: <T>(name: string, input?: unknown) =>
      new Promise<T>((resolve, reject) => {
        last++
        waiting.set(last, { resolve: resolve as (value: unknown) => void, reject })
        child.send({ id: last, name, input })
      }),
    async end() {
      child.disconnect()
      await ended
    },
  }
}

/** Answers the parent's calls until it hangs up. */
export function serve(calls: Readonly<Record<string, (input: never) => unknown>>): void {
  process.on('message', ({ id, name, input }: Message) => {
    Promise.resolve()
      .then(() => calls[name]?.(input as never))
      .then(
        (value) => process.send?.({ id, value }),
        (cause: unknown) => process.send?.({ id, error: String(cause) }),
      )
  })
  process.once('disconnect', () => process.exit(0))
}
