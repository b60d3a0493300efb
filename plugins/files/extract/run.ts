import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readFile } from 'node:fs/promises'
import {
  type Chunk,
  fileError,
  type FileErrorCode,
  MAX_BATCH,
  type ProcessingOptions,
} from '../contract.ts'
import { untilAborted } from '../../../lib/internal/until-aborted.ts'
import type { ExtractLimits } from './command.ts'
import { createMessageReader } from './messages.ts'
import type { Millis } from '../../../lib/time.ts'

export interface ChildResult {
  readonly chunks: number
  readonly characters: number
}

/**
 * Reads one document in a child of its own, which is dead when this settles, however it does.
 *
 * @throws KeyhookError with a code of `fileError`; errors of the bytes, of `take` and of the signal as is
 */
export async function runChild(
  [file, ...args]: readonly [file: string, ...args: string[]],
  pieces: AsyncIterable<Uint8Array>,
  limits: ExtractLimits,
  options: ProcessingOptions,
): Promise<ChildResult> {
  options.signal.throwIfAborted()
  return new ChildRun(spawnChild(file, args), limits, options).finish(pieces)
}

function spawnChild(file: string, args: readonly string[]): ChildProcess {
  try {
    const child = spawn(file, args, { env: {}, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
    // Not ignored by the system, which needs /dev/null: a root may be without it.
    child.stdout.resume()
    return child
  } catch (cause) {
    throw fileError('processor_failed', { cause })
  }
}

class ChildRun {
  readonly #child: ChildProcess
  readonly #limits: ExtractLimits
  readonly #options: ProcessingOptions
  readonly #over = new AbortController()
  readonly #watch: LimitWatch
  #stderr = ''
  #chunks = 0
  #result: ChildResult | undefined

  constructor(child: ChildProcess, limits: ExtractLimits, options: ProcessingOptions) {
    this.#child = child
    this.#limits = limits
    this.#options = options
    this.#watch = watchLimits(child.pid, limits, (code) => {
      this.#stop(fileError(code))
    })
  }

  async finish(pieces: AsyncIterable<Uint8Array>): Promise<ChildResult> {
    const { signal } = this.#options
    const abort = (): void => {
      this.#stop(signal.reason)
    }
    signal.addEventListener('abort', abort)
    try {
      const closed = this.#closed()
      yieldToOthers(this.#child.pid)
      void this.#feed(pieces)
      await this.#readMessages()
      const end = await closed
      this.#over.signal.throwIfAborted()
      if (this.#result === undefined) throw this.#died(end)
      return this.#result
    } finally {
      signal.removeEventListener('abort', abort)
      this.#watch.end()
      this.#over.abort()
    }
  }

  /** The first reason wins. */
  #stop(reason: unknown): void {
    this.#over.abort(reason)
    this.#child.kill('SIGKILL')
  }

  #closed(): Promise<string> {
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2048)
    })
    return new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#stop(fileError('processor_failed', { cause: error }))
        resolve('error')
      })
      this.#child.once('close', (code, signal) => {
        resolve(signal ?? String(code))
      })
    })
  }

  async #feed(pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const counted = this.#counted(untilAborted(pieces, this.#over.signal))
    try {
      await pipeline(counted, this.#child.stdin as Writable)
    } catch {
      // The source's errors are noted where they arise; that a dead child reads no more is no error.
    }
  }

  async *#counted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0
    try {
      for await (const piece of pieces) {
        bytes += piece.length
        if (bytes > this.#limits.bytes) throw fileError('too_large_inside')
        yield piece
      }
    } catch (error) {
      this.#stop(error)
      throw error
    }
  }

  async #readMessages(): Promise<void> {
    const reader = createMessageReader()
    try {
      for await (const bytes of resultsOf(this.#child.stdio[3] as Readable)) {
        const chunks: Chunk[] = []
        for (const message of reader.read(bytes)) {
          if ('chunk' in message) chunks.push(message.chunk)
          else {
            await this.#take(chunks.splice(0))
            if ('stage' in message) this.#options.stage(...message.stage)
            else if ('characters' in message) {
              this.#result = { chunks: this.#chunks, characters: message.characters }
            } else this.#stop(fileError(message.failed, { internal: message.internal }))
          }
        }
        await this.#take(chunks)
      }
    } catch (error) {
      this.#stop(error)
    }
  }

  /** The time limit is paused while the chunks are taken. */
  async #take(chunks: readonly Chunk[]): Promise<void> {
    this.#watch.pause()
    for (let at = 0; at < chunks.length; at += MAX_BATCH) {
      this.#over.signal.throwIfAborted()
      await this.#options.take(chunks.slice(at, at + MAX_BATCH))
    }
    this.#over.signal.throwIfAborted()
    this.#chunks += chunks.length
    this.#watch.resume()
  }

  /** A child that ended without a word: `end` is its exit code or the signal. */
  #died(end: string): Error {
    const ofMemory = /heap out of memory|allocation failed/i.test(this.#stderr)
    const code: FileErrorCode = ofMemory ? 'out_of_memory' : (ENDS[end] ?? 'processor_failed')
    return fileError(code, { internal: `the child ended with ${end}: ${this.#stderr}` })
  }
}

async function* resultsOf(pipe: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const bytes of pipe) yield bytes as Buffer
  } catch (cause) {
    throw fileError('processor_failed', { cause })
  }
}

/** The code of an end by a signal: the kernel's OOM killer, V8's abort, the limit of CPU time. */
const ENDS: Readonly<Record<string, FileErrorCode>> = {
  SIGKILL: 'out_of_memory',
  SIGABRT: 'out_of_memory',
  SIGXCPU: 'timed_out',
}

/** A lower priority, so that documents do not delay requests. */
function yieldToOthers(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, 10)
  } catch {
    // It has ended, or may not.
  }
}

export interface LimitWatch {
  /** Stops the clock; `resume` starts it again where it was. */
  pause(): void
  resume(): void
  end(): void
}

const POLL_INTERVAL: Millis = 50
const KIB_PER_MIB = 1024

/** Calls `exceeded` once a child takes too long, or too much memory where /proc exists. */
export function watchLimits(
  pid: number | undefined,
  limits: ExtractLimits,
  exceeded: (code: 'timed_out' | 'out_of_memory') => void,
): LimitWatch {
  let left = limits.wall
  let since = performance.now()
  let timer: NodeJS.Timeout | undefined

  function resume(): void {
    since = performance.now()
    timer = setTimeout(() => {
      exceeded('timed_out')
    }, left)
  }

  function pause(): void {
    clearTimeout(timer)
    left -= performance.now() - since
  }

  const poll = setInterval(() => {
    void residentKib(pid).then((kib) => {
      if (kib > limits.resident * KIB_PER_MIB) exceeded('out_of_memory')
    })
  }, POLL_INTERVAL)

  resume()
  return {
    pause,
    resume,
    end() {
      clearTimeout(timer)
      clearInterval(poll)
    },
  }
}

/** 0 where unknown: on other systems, and for a child that has ended. */
async function residentKib(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0)
}
