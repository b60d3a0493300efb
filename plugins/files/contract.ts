/**
 * Turning a knowledge-base file into chunks that can be searched. Records, search and retries are the
 * store's and the daemon's: a processor is given bytes and hands out text, and changes nothing.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */
import type { ErrorTable, KeyhookError } from '../../lib/errors.ts'
import { defineErrors } from '../../lib/errors.ts'

/** The most chunks that one file may have. */
export const MAX_CHUNKS = 10_000
/** The most characters of one chunk, in UTF-16 units. */
export const MAX_CHUNK_CHARACTERS = 4000
/** The most chunks that are handed out at once. */
export const MAX_BATCH = 100
/** How many of the first bytes `sniff` is to be shown, or all of a smaller file. */
export const HEAD_BYTES = 4096

export interface FileTask {
  readonly file_id: string
  /** As uploaded: a name, never a path that is opened. */
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** The bytes from the beginning; called at most once. */
  open(): AsyncIterable<Uint8Array>
}

/**
 * A passage that is found and cited as one.
 *
 * `start` and `end` are offsets in the extracted text, in UTF-16 units. The chunk's text ends with
 * exactly what lies between them; what it has before that is repeated from elsewhere, as a table's
 * header is. Neighbours may overlap, and only white space lies between those that do not.
 */
export interface Chunk {
  /** Well-formed Unicode without NUL, never only white space. */
  readonly text: string
  /** 0, 1, 2 and so on, in the order of the text. */
  readonly ordinal: number
  /** The headings above it, outermost first, joined by ` > `; a spreadsheet's sheet. */
  readonly heading: string | null
  /** Counted from 1, where the document has pages. */
  readonly page: number | null
  readonly start: number
  readonly end: number
}

export interface Processed {
  /** What the file was found to be. */
  readonly content_type: string
  /** How many were handed out. */
  readonly chunks: number
  /** The length of the extracted text, in UTF-16 units. */
  readonly characters: number
}

export type ProcessingStage = 'extract' | 'chunk'

export interface ProcessingOptions {
  /** Ends the work: `process` then rejects with the signal's reason. */
  readonly signal: AbortSignal
  /**
   * Told as the work goes on: each stage at least once, never back to an earlier one. `done` counts
   * what the document is made of, such as pages, and never falls within a stage.
   */
  stage(stage: ProcessingStage, done: number, total: number | null): void
  /**
   * Takes the next chunks, 1 to `MAX_BATCH` of them, in order; the processor waits for it before it
   * goes on. What was taken counts only when `process` resolves. What it throws ends the work.
   */
  take(chunks: readonly Chunk[]): Promise<void> | void
}

export interface FileProcessor {
  /**
   * The content type that a file would be processed as, told by its first bytes and its name; undefined
   * when `process` would refuse it as `unsupported_media_type` or `wrong_type`.
   */
  sniff(name: string, head: Uint8Array): string | undefined
  /**
   * Hands out the file's chunks. Nothing is kept between two calls: the same bytes under the same name
   * give the same chunks again, and a failure leaves nothing behind. Calls may overlap.
   *
   * An error that the task's bytes throw is thrown as it is: it says nothing about the file.
   *
   * @throws KeyhookError with a code of `fileError`
   */
  process(task: FileTask, options: ProcessingOptions): Promise<Processed>
  /** Ends what is under way, as `processor_failed`, and frees everything. */
  close(): Promise<void>
}

export type FileErrorCode =
  | 'unsupported_media_type'
  | 'wrong_type'
  | 'empty_file'
  | 'no_text'
  | 'encrypted'
  | 'damaged'
  | 'too_large_inside'
  | 'too_many_pages'
  | 'too_complex'
  | 'out_of_memory'
  | 'timed_out'
  | 'processor_failed'

export type FileError = KeyhookError<FileErrorCode>

/** Why a file gave no chunks. */
export const fileError: ErrorTable<FileErrorCode> = defineErrors<FileErrorCode>({
  unsupported_media_type: {
    status: 415,
    text: 'Files of this type cannot be read. Send pdf, docx, xlsx, html, markdown, csv, json or text.',
  },
  wrong_type: {
    status: 415,
    text: 'The content is not what the name says. Rename the file, or export it again.',
  },
  empty_file: { status: 400, text: 'The file is empty. Send one with text.' },
  no_text: {
    status: 400,
    text: 'The file has no text that can be read. Run text recognition on a scanned document first.',
  },
  encrypted: { status: 400, text: 'The file is encrypted. Send it without a password.' },
  damaged: { status: 400, text: 'The file is damaged or cut off. Export it again.' },
  too_large_inside: {
    status: 400,
    text: 'The file holds more than can be processed once it is unpacked. Split it.',
  },
  too_many_pages: { status: 400, text: 'The document has too many pages. Split it.' },
  too_complex: {
    status: 400,
    text: 'The file is nested too deeply, or one of its rows is too long. Simplify it, or send it as text.',
  },
  out_of_memory: {
    status: 400,
    text: 'The file needs more memory than it may take. Split it, or send it as text.',
  },
  timed_out: { status: 400, text: 'The file took too long to process. Retry, or split it.' },
  processor_failed: { status: 500, text: 'The file could not be processed. Retry.' },
})

/** What may go better when the same file is processed again; all else stays as it is. */
export const RETRIABLE: ReadonlySet<FileErrorCode> = new Set<FileErrorCode>([
  'timed_out',
  'processor_failed',
])
