/**
 * What carries out a prompt: given an app's files and a wish in words, it answers the operations that
 * fulfil it.
 *
 * An editor changes nothing itself: the core checks its operations and applies all of them or none. So
 * the same edit may be given to it again after a crash, and nothing is lost or done twice. An
 * implementation proves itself with `conformance`.
 *
 * @module
 */
export { abortError, EDIT_ERRORS, EditError } from './errors.ts'
export type { EditErrorCode } from './errors.ts'

/** One change to an app's tree. They apply in their order, each to what those before it left. */
export type EditOperation =
  | { readonly op: 'write'; readonly path: string; readonly content: string }
  /** `search` lies in exactly one place of the file; what lies there becomes `replace`, literally. */
  | {
      readonly op: 'patch'
      readonly path: string
      readonly search: string
      readonly replace: string
    }
  | { readonly op: 'rename'; readonly from: string; readonly to: string }
  | { readonly op: 'delete'; readonly path: string }
  /** `null` takes the key away. */
  | { readonly op: 'set_config'; readonly key: string; readonly value: string | null }

/** One edit to carry out. */
export interface EditTask {
  /** Given again with the same task after a crash. */
  readonly edit_id: string
  readonly app_id: string
  readonly prompt: string
  /** The model that was asked for; null for the editor's own choice. */
  readonly model: string | null
  /** Whether the app is being made: its files are a bare start, or none. */
  readonly initial: boolean
  /** The base that the operations apply to; sizes in bytes. */
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

/** A piece of a knowledge-base file that fits a query. Its text and name are untrusted. */
export interface Passage {
  readonly file_id: string
  readonly name: string
  /** The page it stands on, from 1; null where a file has no pages. */
  readonly page: number | null
  readonly text: string
}

/** What stands against an operation; `message` may quote the app's own files and nothing else. */
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
  /** Null while it is not known. */
  readonly total: number | null
  /** For whoever watches the edit, such as the path of the file being written. Public. */
  readonly message?: string
}

/** What an editor may use while it carries out one task; what these reject with ends the edit. */
export interface EditTools {
  /**
   * Aborts when the edit is canceled. With a `TimeoutError` as its reason, such as
   * `AbortSignal.timeout` gives, it is the deadline that passed.
   */
  readonly signal: AbortSignal
  /** The bytes of a file of the base, not to be changed; undefined when there is none. */
  read(path: string): Promise<Uint8Array | undefined>
  /** At most `most` passages of the app's knowledge base, best first. None where it has no knowledge. */
  passages(query: string, most: number): Promise<readonly Passage[]>
  /** What of these operations could not be applied to the base; empty when all can. Changes nothing. */
  check(operations: readonly EditOperation[]): Promise<readonly OperationFault[]>
  /** Tells how far it is, and that it is alive: to be called at least every 15 s. Never throws. */
  progress(report: EditProgress): void
}

/** What a model was given and gave, in tokens, over every request of the edit. */
export interface EditUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  /** How many of `input_tokens` came from the server's cache. */
  readonly cached_tokens: number
  /** Whether any of it was reckoned from the length of the text, because the server did not say. */
  readonly estimated: boolean
}

export interface EditOutcome {
  /** At least one; `check` finds nothing against them. */
  readonly operations: readonly EditOperation[]
  /** One line of at most 200 characters, in the words of the model: untrusted text. */
  readonly summary: string
  /** The model that answered. */
  readonly model: string
  readonly usage: EditUsage
  /** Whether the first answer could not be used as it was. */
  readonly repaired: boolean
}

export interface Editor {
  /** Whether it can carry out anything; false when no model is configured. */
  readonly available: boolean
  /**
   * Answers the operations that fulfil the prompt. Tasks may run side by side; one given twice at once
   * is carried out twice.
   *
   * @throws EditError for whatever the editor, the model or the deadline stops
   */
  carryOut(task: EditTask, tools: EditTools): Promise<EditOutcome>
  /** Ends what is under way as `canceled`, and everything given to it later. */
  close?(): Promise<void>
}
