import assert from 'node:assert/strict'
import type { ConformanceCase, ConformanceHarness } from '../../conformance.ts'
import type {
  Chunk,
  FileErrorCode,
  FileProcessor,
  FileTask,
  Processed,
  ProcessingOptions,
  ProcessingStage,
} from '../contract.ts'
import { MAX_BATCH, MAX_CHUNK_CHARACTERS } from '../contract.ts'

/** What a processor gives the suite. Plain text is the least that each takes. */
export interface FilesHarness extends ConformanceHarness {
  readonly processor: FileProcessor
}

export type FilesCase = ConformanceCase<FilesHarness>

export type Stage = readonly [stage: ProcessingStage, done: number, total: number | null]

/** Everything that came of one call. */
export interface Outcome extends Processed {
  readonly all: readonly Chunk[]
  readonly stages: readonly Stage[]
}

/** A file whose bytes arrive in pieces; `pieceBytes` defaults to all at once. */
export function taskOf(
  name: string,
  content: string | Uint8Array,
  pieceBytes = Number.POSITIVE_INFINITY,
): FileTask {
  const bytes = Buffer.from(content)
  return {
    file_id: 'file_1',
    name,
    size: bytes.length,
    async *open() {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        yield bytes.subarray(at, at + pieceBytes)
      }
    },
  }
}

/** A file that sends its beginning and then hangs; `reached` resolves when it does. */
export function hangingTask(name: string): {
  readonly task: FileTask
  readonly reached: Promise<void>
} {
  let reach = (): void => undefined
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const never = new Promise<never>(() => undefined)
  const task: FileTask = {
    file_id: 'file_1',
    name,
    size: 1_000_000,
    async *open() {
      yield Buffer.from('The beginning of a long text. '.repeat(300))
      reach()
      yield await never
    },
  }
  return { task, reached }
}

export async function processAll(
  { processor }: FilesHarness,
  task: FileTask,
  options: Partial<ProcessingOptions> = {},
): Promise<Outcome> {
  const all: Chunk[] = []
  const stages: Stage[] = []
  const processed = await processor.process(task, {
    signal: new AbortController().signal,
    stage: (...stage) => {
      stages.push(stage)
    },
    take(chunks) {
      assert.ok(chunks.length >= 1 && chunks.length <= MAX_BATCH, 'chunks come in batches')
      all.push(...chunks)
    },
    ...options,
  })
  return { ...processed, all, stages }
}

export function assertFails(work: Promise<unknown>, code: FileErrorCode): Promise<void> {
  return assert.rejects(work, { name: 'KeyhookError', code })
}

/** The extracted text as its chunks show it; what none of them covers becomes blanks. */
export function textOf({ all, characters }: Outcome): string {
  const pieces: string[] = []
  let length = 0
  /** The end of what is known: an overlap is shorter than a chunk. */
  let tail = ''
  const add = (piece: string): void => {
    pieces.push(piece)
    length += piece.length
    tail = (tail + piece).slice(-MAX_CHUNK_CHARACTERS)
  }
  all.forEach(({ text, ordinal, start, end }, index) => {
    assert.equal(ordinal, index, 'ordinals count')
    assert.ok(start < end && end <= characters, 'offsets lie in the text')
    assert.ok(text.length <= MAX_CHUNK_CHARACTERS, 'a chunk is small')
    assert.ok(text.trim() !== '', 'a chunk says something')
    assert.ok(!/[\0]|\p{Surrogate}/u.test(text), 'a chunk is well-formed and without NUL')
    const own = text.slice(text.length - (end - start))
    assert.equal(own.length, end - start, 'a chunk shows all between its offsets')
    const known = Math.max(0, length - start)
    assert.ok(known < own.length, 'each chunk goes on')
    const overlap = known === 0 ? '' : tail.slice(-known)
    assert.equal(own.slice(0, known), overlap, 'what overlaps is the same')
    add(' '.repeat(Math.max(0, start - length)))
    add(own.slice(known))
  })
  add(' '.repeat(characters - length))
  return pieces.join('')
}

/** The text with every white space as a blank, which is all that `textOf` can know of some of it. */
export function blank(text: string): string {
  return text.replace(/\s/g, ' ')
}
