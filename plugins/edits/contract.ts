/**
 * An editor turns a prompt and an app's files into operations on these files.
 *
 * An editor changes nothing itself: the daemon checks its operations and applies all of them or none. The
 * same edit may therefore be given to it again after a crash. An implementation proves itself with
 * `conformance`.
 *
 * @module
 */
export { abortError, EDIT_ERRORS, EditError } from './errors.ts'
export type { EditErrorCode } from './errors.ts'

/** One change to an app's tree. Operations apply in order, each to the result of those before it. */
export type EditOperation =
  | { readonly op: 'write'; readonly path: string; readonly content: string }
  /** `search` occurs exactly once in the file, and is replaced by `replace`, literally. */
  | {
      readonly op: 'patch'
      readonly path: string
      readonly search: string
      readonly replace: string
    }
  | { readonly op: 'rename'; readonly from: string; readonly to: string }
  | { readonly op: 'delete'; readonly path: string }
  /** `null` removes the key. */
  | { readonly op: 'set_config'; readonly key: string; readonly value: string | null }

/** One edit. */
export interface EditTask {
  /** The same after a crash, with the same task. */
  readonly edit_id: string
  readonly app_id: string
  readonly prompt: string
  /** The requested model; null for the editor's default. */
  readonly model: string | null
  /** Whether this creates the app: it has a starter template, or no files. */
  readonly initial: boolean
  /** The files that the operations apply to; sizes in bytes. */
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

/** A passage of a knowledge file that matches a query. Its text and name are untrusted. */
export interface Passage {
  readonly file_id: string
  readonly name: string
  /** Page number, from 1; null for files without pages. */
  readonly page: number | null
  readonly text: string
}

/** Why an operation cannot be applied; `message` may quote the app's own files and nothing else. */
export interface OperationFault {
  readonly index: number
  readonly code: string
  readonly message: string
}

export type EditStage = 'reading' | 'asking' | 'repairing' | 'applying'

export interface EditProgress {
  readonly stage: EditStage
  /** Never above `total`. */
  readonly done: number
  /** Null while unknown. */
  readonly total: number | null
  /** Shown to users, such as the path of the file being written. */
  readonly message?: string
}

/** What an editor may use for one task; an error of these ends the edit. */
export interface EditTools {
  /** Aborts when the edit is canceled, or with a `TimeoutError` as its reason when its deadline passed. */
  readonly signal: AbortSignal
  /** The bytes of a file, not to be modified; undefined when there is none. */
  read(path: string): Promise<Uint8Array | undefined>
  /** At most `most` passages of the app's knowledge files, best first. */
  passages(query: string, most: number): Promise<readonly Passage[]>
  /** The operations that cannot be applied; empty when all can. Changes nothing. */
  check(operations: readonly EditOperation[]): Promise<readonly OperationFault[]>
  /** Reports progress, and serves as the heartbeat: call it at least every 15 s. Never throws. */
  progress(report: EditProgress): void
}

/** Tokens of all requests of the edit. */
export interface EditUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  /** Input tokens from the server's cache. */
  readonly cached_tokens: number
  /** Whether any count was estimated from the length of the text, because the server sent none. */
  readonly estimated: boolean
}

export interface EditOutcome {
  /** At least one; `check` accepts them. */
  readonly operations: readonly EditOperation[]
  /** One line of at most 200 characters by the model: untrusted text. */
  readonly summary: string
  /** The model that answered. */
  readonly model: string
  readonly usage: EditUsage
  /** Whether the first answer needed a repair. */
  readonly repaired: boolean
}

export interface Editor {
  /** False when no model is configured. */
  readonly available: boolean
  /**
   * Returns the operations for the prompt. Tasks may run concurrently; the same task given twice runs twice.
   *
   * @throws EditError when the editor, the model or the deadline ends it
   */
  carryOut(task: EditTask, tools: EditTools): Promise<EditOutcome>
  /** Ends running and later edits as `canceled`. */
  close?(): Promise<void>
}
