import {
  fileError,
  type FileProcessor,
  type FileTask,
  type Processed,
  type ProcessingOptions,
} from './contract.ts'
import { commandOf, DEFAULT_LIMITS, type ExtractLimits, PROGRAM } from './extract/command.ts'
import { runChild } from './extract/run.ts'
import { prepend, readHead } from './head.ts'
import { readableTypes, sniff } from './sniff.ts'
import { untilAborted } from '../../lib/internal/until-aborted.ts'

export type { ExtractLimits } from './extract/command.ts'

export interface FileProcessorOptions {
  readonly limits?: Partial<ExtractLimits>
  /** Maximum concurrent child processes; more files wait. Default 1. */
  readonly children?: number
  /** The child's program. Default: the one that comes with this package. */
  readonly program?: URL
}

/**
 * Creates the processor of pdf, docx, xlsx, html, markdown, csv, tsv, json and plain text: of those whose
 * packages are installed.
 *
 * Each document is read by a child process of its own, which gets its bytes and nothing else: no
 * environment, no file but its own code, and limits of time, memory and output. Whatever a document does
 * to it becomes a code.
 *
 * @example
 * const processor = createFileProcessor({ limits: { wall: 60_000 }, children: 2 })
 */
export function createFileProcessor(options: FileProcessorOptions = {}): FileProcessor {
  const { children = 1, program = PROGRAM } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const reads = readableTypes()
  const isRead = (type: string): boolean => reads.some(({ media_type }) => media_type === type)
  const limiter = createLimiter(children)
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()

  async function read(task: FileTask, options: ProcessingOptions): Promise<Processed> {
    const over = new AbortController()
    const pieces = untilAborted(task.open(), AbortSignal.any([options.signal, over.signal]))
    try {
      const head = await readHead(pieces)
      const sniffed = sniff(task.name, head)
      if ('code' in sniffed) throw fileError(sniffed.code)
      if (!isRead(sniffed.type)) throw fileError('unsupported_media_type')
      if (head.length === 0) throw fileError('empty_file')
      const command = commandOf(program, sniffed.type, limits)
      const result = await runChild(command, prepend(head, pieces), limits, options)
      return { content_type: sniffed.type, ...result }
    } finally {
      // Ends the bytes, whether they wait to be read or hang.
      over.abort()
      pieces.return(undefined).catch(() => undefined)
    }
  }

  return {
    reads,
    sniff(name, head) {
      const sniffed = sniff(name, head)
      return 'type' in sniffed && isRead(sniffed.type) ? sniffed.type : undefined
    },

    async process(task, options) {
      const signal = AbortSignal.any([options.signal, closing.signal])
      const work = limiter.run(() => read(task, { ...options, signal }), signal)
      const settled = work.catch(() => undefined)
      running.add(settled)
      try {
        return await work
      } finally {
        running.delete(settled)
      }
    },

    async close() {
      closing.abort(fileError('processor_failed', { internal: 'closed' }))
      await Promise.all(running)
    },
  }
}

/** Limits concurrency; waiting work starts in its order. */
export interface Limiter {
  /** @throws the signal's reason when it aborts while the work waits */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
}

export function createLimiter(size: number): Limiter {
  let free = size
  const waiting = new Set<() => void>()

  function wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        waiting.delete(start)
        signal.removeEventListener('abort', abort)
        then()
      }
      const start = (): void => {
        settle(resolve)
      }
      const abort = (): void => {
        settle(() => {
          reject(signal.reason as Error)
        })
      }
      waiting.add(start)
      signal.addEventListener('abort', abort)
    })
  }

  return {
    async run(work, signal) {
      signal.throwIfAborted()
      if (free > 0) free--
      else await wait(signal)
      try {
        return await work()
      } finally {
        const [next] = waiting
        if (next === undefined) free++
        else next()
      }
    },
  }
}
