import type { Instant } from '../../../lib/time.ts'
import type { ValueOf } from '../../store/sql/columns.ts'
import type { RecordOf } from '../model/define.ts'
import type { FILES, FILE_CHUNK, FOUND_CHUNK, FileFailure } from '../models/files.ts'
import type { LeasedJob } from './jobs.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'

export { FILE_STATUSES } from '../models/files.ts'
export type { FileFailure } from '../models/files.ts'

export type FileRecord = RecordOf<typeof FILES>
export type FileStatus = FileRecord['status']

export interface FileListQuery extends PageQuery {
  readonly app_id: string
  readonly status: FileStatus | null
  readonly content_type: string | null
}

/** A passage of a file. */
export type FileChunk = ValueOf<typeof FILE_CHUNK>

/** A passage on its way in. */
export interface NewChunk extends FileChunk {
  /** What it is found by, as `withWords` has it. Default: it is worked out in the unit of work. */
  readonly words?: readonly string[]
}

/** Which of a file's chunks one is. */
export interface ChunkPlace {
  readonly file_id: string
  readonly ordinal: number
}

export interface FoundChunk extends ValueOf<typeof FOUND_CHUNK> {
  /** Above 0; the better, the higher. Comparable within one answer alone. */
  readonly score: number
}

export interface FileSearch {
  readonly app_id: string
  /** Words as a person writes them; what is no letter or digit parts them. */
  readonly query: string
  readonly limit: number
  /** Only in these files. */
  readonly files: readonly string[] | null
}

/** Vectors of neighbouring chunks of a file, in their order. */
export interface FileVectors {
  /** What made them: those of another model are not compared with them. */
  readonly model: string
  /** The ordinal of the first chunk. */
  readonly first: number
  /** All of one length. */
  readonly vectors: readonly Float32Array[]
}

export interface NearSearch {
  readonly app_id: string
  readonly model: string
  readonly vector: Float32Array
  readonly limit: number
  /** Only in these files. */
  readonly files: readonly string[] | null
  /** Where there are more vectors than this to compare with, those of `known` alone are. */
  readonly most: number
  readonly known: readonly ChunkPlace[]
}

export interface FileReads {
  get(appId: string, id: string): Promise<FileRecord | undefined>
  list(query: FileListQuery): Promise<Page<FileRecord>>
  /** The app's file of these bytes that was made first. */
  bySha256(appId: string, sha256: string): Promise<FileRecord | undefined>
  /** How many files an app has, and their bytes. */
  sum(appId: string): Promise<{ readonly files: number; readonly bytes: number }>
  /** Which of these an app's files are. */
  named(appId: string, sha256: readonly string[]): Promise<readonly string[]>
  /**
   * Passages of processed files that hold any of the words, be it in the headings above them, those that
   * fit best first: more of the words, and rarer ones, count more. Case and accents do not matter. Nothing
   * for a query without words.
   */
  search(search: FileSearch): Promise<readonly FoundChunk[]>
  /**
   * Passages of processed files whose vectors of this model point the most the same way, the nearest first.
   * Their score is the cosine, and above 0, to about a hundredth. Vectors of another length are none, as are
   * those of nothing but zeros.
   *
   * It lets others have their turn after a few hundred comparisons. What is deleted meanwhile may be missing.
   */
  nearest(search: NearSearch): Promise<readonly FoundChunk[]>
  /** Chunks of a file from an ordinal on, in their order, whether or not they are found yet. */
  chunks(id: string, from: number, limit: number): Promise<readonly FileChunk[]>
}

export type FileEnd =
  | {
      readonly status: 'processed'
      readonly content_type: string
      readonly chunks: number
      readonly characters: number
    }
  | { readonly status: 'failed'; readonly error: FileFailure }

export interface FileWrites extends FileReads {
  /** Adds a file; one that is queued has a job from then on. */
  insert(file: FileRecord): Promise<void>
  /**
   * Notes that the file of a job is processed from now on; chunks and vectors of an earlier attempt are for
   * `clear` to delete. Undefined when there is no such file.
   */
  begin(job: LeasedJob): Promise<FileRecord | undefined>
  /**
   * Deletes up to `limit` rows of chunks and vectors of a claimed file, and answers how many: fewer than
   * `limit` when none are left. Undefined, deleting none, when it is not this claim's any more.
   */
  clear(id: string, claim: string, limit: number): Promise<number | undefined>
  /**
   * Adds chunks that nobody finds yet, in the order of their ordinals; those of an earlier attempt were
   * cleared. False, adding none, when it is not this claim's any more.
   */
  addChunks(id: string, claim: string, chunks: readonly NewChunk[]): Promise<boolean>
  /**
   * Adds vectors of chunks that were added; each chunk has one at most. False, adding none, when it is not
   * this claim's any more.
   */
  addVectors(id: string, claim: string, added: FileVectors): Promise<boolean>
  /**
   * Ends a claimed file and its job: its chunks are found from then on; those of one that failed are to be cleared before.
   * False, changing nothing, when it is not this claim's any more: it was deleted, or given to another.
   */
  finish(id: string, claim: string, now: Instant, end: FileEnd): Promise<boolean>
  /** Lets one that failed be processed again, as if it were new. False when it has not failed. */
  retry(id: string): Promise<boolean>
  /**
   * Deletes it and its job, whatever its state: nobody finds its chunks and vectors any more, which the purge of
   * `removed_files` deletes. False when there is none.
   */
  remove(appId: string, id: string): Promise<boolean>
}

/**
 * Passages that one unit of work deletes: others that write wait for it. SQLite's index of words merges its parts
 * as it loses rows, which took up to 0.2 s for 500 of them.
 */
export const PASSAGES_AT_ONCE = 50
