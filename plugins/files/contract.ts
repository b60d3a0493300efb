/**
 * A processor turns a knowledge file into chunks that can be searched. It changes nothing: records, search and
 * retries belong to the store and the daemon.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */
import type { ErrorTable } from '../../lib/errors.ts'
import { defineErrors } from '../../lib/errors.ts'

/** Maximum chunks per file. */
export const MAX_CHUNKS = 10_000
/** Maximum characters per chunk, in UTF-16 units. */
export const MAX_CHUNK_CHARACTERS = 4000
/** Maximum chunks per batch. */
export const MAX_BATCH = 100
/** First bytes that `sniff` needs, or all of a smaller file. */
export const HEAD_BYTES = 4096

export interface FileTask {
  readonly file_id: string
  /** As uploaded: never opened as a path. */
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** The bytes from the beginning; called at most once. */
  open(): AsyncIterable<Uint8Array>
}

/**
 * The unit of search and citation.
 *
 * `start` and `end` are offsets in the extracted text, in UTF-16 units. The chunk's text ends with exactly the
 * text between them; anything before that is repeated, such as the header of a table. Neighbours may overlap;
 * only white space is between those that do not.
 */
export interface Chunk {
  /** Well-formed Unicode without NUL, never only white space. */
  readonly text: string
  /** 0, 1, 2, … in the order of the text. */
  readonly ordinal: number
  /** The headings above it, outermost first, joined by ` > `; a spreadsheet's sheet. */
  readonly heading: string | null
  /** Page number, from 1; null for documents without pages. */
  readonly page: number | null
  readonly start: number
  readonly end: number
}

export interface Processed {
  /** Detected content type. */
  readonly content_type: string
  /** Number of chunks. */
  readonly chunks: number
  /** Length of the extracted text, in UTF-16 units. */
  readonly characters: number
}

export type ProcessingStage = 'extract' | 'chunk'

export interface ProcessingOptions {
  /** Ends the work: `process` then rejects with the signal's reason. */
  readonly signal: AbortSignal
  /**
   * Reports progress: each stage at least once, in order. `done` counts parts of the document, such as pages,
   * and never decreases within a stage.
   */
  stage(stage: ProcessingStage, done: number, total: number | null): void
  /**
   * Takes the next 1 to `MAX_BATCH` chunks, in order; the processor waits for it. Chunks count only once
   * `process` resolves. An error ends the work.
   */
  take(chunks: readonly Chunk[]): Promise<void> | void
}

/** A type of files that a processor reads. */
export interface FileType {
  /** As `sniff` returns it, such as `application/pdf`. */
  readonly media_type: string
  /** As people call it, such as `pdf`: refusals of other types name it. */
  readonly label: string
}

export interface FileProcessor {
  /** Every type that `sniff` may return; at least one. */
  readonly reads: readonly FileType[]
  /**
   * Detects the content type from the first bytes and the name; undefined when `process` would refuse the file
   * as `unsupported_media_type` or `wrong_type`.
   */
  sniff(name: string, head: Uint8Array): string | undefined
  /**
   * Passes on the file's chunks. It is stateless: the same bytes under the same name give the same chunks, and a
   * failure leaves nothing behind. Calls may overlap.
   *
   * An error of the task's bytes is thrown as is: it says nothing about the file.
   *
   * @throws KeyhookError with a code of `fileError`
   */
  process(task: FileTask, options: ProcessingOptions): Promise<Processed>
  /** Ends running calls as `processor_failed`, and frees all resources. */
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

/** Why a file has no chunks. */
export const fileError: ErrorTable<FileErrorCode> = defineErrors<FileErrorCode>({
  unsupported_media_type: {
    status: 415,
    text: 'Files of this type cannot be read here. Send one of another type.',
  },
  wrong_type: {
    status: 415,
    text: 'The content does not match the file name. Rename the file, or export it again.',
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

/** Codes for which processing the same file again may succeed. */
export const RETRIABLE: ReadonlySet<FileErrorCode> = new Set<FileErrorCode>([
  'timed_out',
  'processor_failed',
])
