import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** How another process opens what a harness opened. */
export interface OtherProcess {
  /** The URL of a module that exports `open(argument)`. */
  readonly module: string
  /** What it is called with, as JSON. */
  readonly argument: unknown
}

/** What a case runs in another process; `say` gives its case a value, and awaits that it was sent. */
export type Part<Opened> = (
  opened: Opened,
  input: never,
  say: (value: unknown) => Promise<void>,
) => Promise<void>

/** Another process while it runs its part. */
export interface RunningPart {
  /**
   * The next value that it says.
   *
   * @throws Error when it ends before
   */
  said(): Promise<unknown>
}

const CHILD = fileURLToPath(new URL('./other-process-child.js', import.meta.url))

/**
 * Runs a part of a case in another process, and kills that process with SIGKILL when `work` is done.
 *
 * @param parts the URL of the module that exports the part by its name
 */
export async function withOtherProcess<T>(
  { module, argument }: OtherProcess,
  [parts, name, input]: readonly [parts: string, name: string, input: unknown],
  work: (other: RunningPart) => Promise<T>,
): Promise<T> {
  const child = fork(CHILD, [JSON.stringify({ module, argument, parts, name, input })])
  const exited = once(child, 'exit')
  try {
    return await work({ said: createInbox(child) })
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}

/** What a child says is kept until it is asked for. */
function createInbox(child: ChildProcess): () => Promise<unknown> {
  const values: unknown[] = []
  const ended = new AbortController()
  let arrived = (): void => undefined
  child.on('message', (value) => {
    values.push(value)
    arrived()
  })
  child.once('exit', (code) => {
    ended.abort(new Error(`the other process ended with ${String(code)}; its error is on stderr`))
    arrived()
  })
  return async () => {
    while (values.length === 0) {
      ended.signal.throwIfAborted()
      await new Promise<void>((resolve) => {
        arrived = resolve
      })
    }
    return values.shift()
  }
}
