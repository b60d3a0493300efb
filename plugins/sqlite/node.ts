/**
 * SQLite of Node itself. Its calls are synchronous, so that each connection has a thread: a search, a backup or a
 * slow disk does not hold the event loop.
 *
 * @module
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TransferListItem } from 'node:worker_threads'
import { Worker } from 'node:worker_threads'
import { SQLITE_THREAD, isExecutable, readAsset } from '../executable.ts'
import type { Mode, Row, SqliteConnection, SqliteDriver } from './driver.ts'
import type { Answer, Call, Failure, Rows, Target } from './thread-calls.ts'

/** Neither flags nor variables of this process concern a thread. */
const ISOLATED = { env: {}, execArgv: [] }

function startThread(workerData: Target): Worker {
  const options = { ...ISOLATED, workerData }
  return isExecutable
    ? new Worker(readAsset(SQLITE_THREAD).toString(), { ...options, eval: true })
    : new Worker(new URL('./thread-program.js', import.meta.url), options)
}

/** The names of SQLite's codes, without which no error names its kind. */
const NAMES: Readonly<Record<number, string>> = {
  1: 'ERROR',
  2: 'INTERNAL',
  3: 'PERM',
  4: 'ABORT',
  5: 'BUSY',
  6: 'LOCKED',
  7: 'NOMEM',
  8: 'READONLY',
  9: 'INTERRUPT',
  10: 'IOERR',
  11: 'CORRUPT',
  12: 'NOTFOUND',
  13: 'FULL',
  14: 'CANTOPEN',
  15: 'PROTOCOL',
  17: 'SCHEMA',
  18: 'TOOBIG',
  19: 'CONSTRAINT',
  20: 'MISMATCH',
  21: 'MISUSE',
  23: 'AUTH',
  25: 'RANGE',
  26: 'NOTADB',
}

export const nodeDriver: SqliteDriver = {
  name: 'node:sqlite',
  async open(file, mode) {
    const thread = new Thread(targetOf(file, mode))
    try {
      await thread.opened
    } catch (cause) {
      await thread.end()
      throw cause
    }
    return connectionOn(thread)
  },
}

function targetOf(file: string, mode: Mode): Target {
  const url = pathToFileURL(resolve(file))
  if (mode === 'write') url.searchParams.set('mode', 'rw')
  return { url: url.href, readOnly: mode === 'read' }
}

function connectionOn(thread: Thread): SqliteConnection {
  return {
    async all<T extends Row>(sql: string, bind: readonly unknown[] = []) {
      return toObjects<T>(await thread.call({ kind: 'all', sql, bind }).answered)
    },
    async exec(sql) {
      await thread.call({ kind: 'exec', sql }).answered
    },
    async prepare(sql) {
      const { id: statement, answered } = thread.call({ kind: 'prepare', sql })
      await answered
      return {
        async all<T extends Row>(bind: readonly unknown[]) {
          return toObjects<T>(await thread.call({ kind: 'run', statement, bind }).answered)
        },
        async finalize() {
          await thread.call({ kind: 'finalize', statement }).answered
        },
      }
    },
    async copyTo(file, pages, progress) {
      await thread.call({ kind: 'copy', file, pages }, progress).answered
      progress(1)
    },
    async close() {
      await thread.call({ kind: 'close' }).answered
      await thread.end()
    },
  }
}

interface Waiter {
  readonly resolve: (rows: Rows) => void
  readonly reject: (cause: Error) => void
  readonly progress: ((share: number) => void) | undefined
}

/** A thread with one connection. It keeps the process alive while a call is not answered. */
class Thread {
  readonly opened: Promise<unknown>
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiter>()
  #last = 0

  constructor(target: Target) {
    this.#worker = startThread(target)
    this.opened = this.#wait(0, undefined)
    this.#worker.on('message', (answer: Answer) => {
      this.#take(answer)
    })
    this.#worker.once('error', (cause) => {
      this.#fail(cause as Error)
    })
    this.#worker.once('exit', () => {
      this.#fail(new Error('SQLITE_MISUSE: Database is closed'))
    })
  }

  call(
    call: Call,
    progress?: (share: number) => void,
  ): { readonly id: number; readonly answered: Promise<Rows> } {
    const id = ++this.#last
    const answered = this.#wait(id, progress)
    const bytes: TransferListItem[] = []
    this.#worker.postMessage([id, 'bind' in call ? withOwnBytes(call, bytes) : call], bytes)
    return { id, answered }
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #wait(id: number, progress: Waiter['progress']): Promise<Rows> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) this.#worker.ref()
      this.#waiting.set(id, { resolve, reject, progress })
    })
  }

  #take(answer: Answer): void {
    const waiter = this.#waiting.get(answer.id)
    if ('share' in answer) {
      waiter?.progress?.(answer.share)
      return
    }
    this.#waiting.delete(answer.id)
    if (this.#waiting.size === 0) this.#worker.unref()
    if ('failed' in answer) waiter?.reject(errorOf(answer.failed))
    else waiter?.resolve(answer.rows)
  }

  #fail(cause: Error): void {
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(cause)
  }
}

/** Bytes are copied once and handed over: a clone would copy all of the memory that a Buffer is a part of. */
function withOwnBytes<C extends Call & { readonly bind: readonly unknown[] }>(
  call: C,
  bytes: TransferListItem[],
): C {
  if (!call.bind.some((value) => value instanceof Uint8Array)) return call
  const bind = call.bind.map((value) => {
    if (!(value instanceof Uint8Array)) return value
    const own = new Uint8Array(value)
    bytes.push(own.buffer)
    return own
  })
  return { ...call, bind }
}

function toObjects<T extends Row>({ names, rows }: Rows): T[] {
  return rows.map((values) => {
    const row: Record<string, unknown> = {}
    for (const [index, name] of names.entries()) row[name] = toBuffer(values[index])
    return row as T
  })
}

function toBuffer(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/** As the package sqlite3 makes it, whose code Sequelize knows. */
function errorOf({ message, errcode }: Failure): Error {
  const errno = (errcode ?? 1) & 0xff
  const code = `SQLITE_${NAMES[errno] ?? 'ERROR'}`
  return Object.assign(new Error(`${code}: ${message}`), { code, errno })
}
