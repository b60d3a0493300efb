import {
  HEAD_BYTES,
  fileError,
  type FileProcessor,
  type FileTask,
  type Processed,
  type ProcessingOptions,
} from './contract.ts'
import { PROGRAM, commandOf } from './extract/command.ts'
import { DEFAULT_LIMITS, type ExtractLimits } from './extract/limits.ts'
import { runChild } from './extract/run.ts'
import { Turns } from './extract/turns.ts'
import { sniff } from './sniff.ts'
import { untilAborted } from './until-aborted.ts'

export type { ExtractLimits } from './extract/limits.ts'

export interface FileProcessorOptions {
  readonly limits?: Partial<ExtractLimits>
  /** Children at once; more files wait. Default 1. */
  readonly children?: number
  /** The child's program. Default: the one that comes with this package. */
  readonly program?: URL
}

/**
 * Creates the processor of pdf, docx, xlsx, html, markdown, csv, tsv, json and plain text.
 *
 * Each document is read by a child process of its own, which gets its bytes and nothing else: no
 * environment, no file but its own code, and limits of time, memory and output. Whatever a document does
 * to it becomes a code.
 *
 * @example
 * const processor = createFileProcessor({ limits: { wall: 60_000 }, children: 2 })
 */
export function createFileProcessor(options: FileProcessorOptions = {}): FileProcessor {
  return new ChildFileProcessor(options)
}

class ChildFileProcessor implements FileProcessor {
  readonly #limits: ExtractLimits
  readonly #program: URL
  readonly #turns: Turns
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor({ limits, children = 1, program = PROGRAM }: FileProcessorOptions) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
    this.#program = program
    this.#turns = new Turns(children)
  }

  sniff(name: string, head: Uint8Array): string | undefined {
    const sniffed = sniff(name, head)
    return 'type' in sniffed ? sniffed.type : undefined
  }

  async process(task: FileTask, options: ProcessingOptions): Promise<Processed> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal])
    const work = this.#turns.run(() => this.#read(task, { ...options, signal }), signal)
    const running = work.catch(() => undefined)
    this.#running.add(running)
    try {
      return await work
    } finally {
      this.#running.delete(running)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(fileError('processor_failed', { internal: 'closed' }))
    await Promise.all(this.#running)
  }

  async #read(task: FileTask, options: ProcessingOptions): Promise<Processed> {
    const over = new AbortController()
    const pieces = untilAborted(task.open(), AbortSignal.any([options.signal, over.signal]))
    try {
      const head = await readHead(pieces)
      const sniffed = sniff(task.name, head)
      if ('code' in sniffed) throw fileError(sniffed.code)
      if (head.length === 0) throw fileError('empty_file')
      const command = commandOf(this.#program, sniffed.type, this.#limits)
      const result = await runChild(command, prepend(head, pieces), this.#limits, options)
      return { content_type: sniffed.type, ...result }
    } finally {
      // Ends the bytes, whether they wait to be read or hang.
      over.abort()
      pieces.return(undefined).catch(() => undefined)
    }
  }
}

/** At least the first `HEAD_BYTES`, or all there is. */
async function readHead(pieces: AsyncGenerator<Uint8Array>): Promise<Buffer> {
  const head: Uint8Array[] = []
  for (let length = 0; length < HEAD_BYTES;) {
    const next = await pieces.next()
    if (next.done === true) break
    head.push(next.value)
    length += next.value.length
  }
  return Buffer.concat(head)
}

async function* prepend(
  head: Uint8Array,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head
  yield* pieces
}
