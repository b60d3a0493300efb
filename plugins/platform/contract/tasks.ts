import type { Instant } from '../../../lib/time.ts'
import type { Page, PageQuery } from '../../store/contract/page.ts'
import type { RecordOf } from '../model/define.ts'
import { placeOf } from '../model/pages.ts'
import type {
  AGENT_MESSAGES,
  AGENT_PUSHES,
  AGENT_TASKS,
  TaskFailure,
  TaskState,
} from '../models/tasks.ts'

export { TASK_STATES } from '../models/tasks.ts'
export type { TaskFailure, TaskRequest, TaskState } from '../models/tasks.ts'

export type TaskRecord = RecordOf<typeof AGENT_TASKS>

/** A message of a task; the numbers of one task have no gaps. */
export type TaskMessage = RecordOf<typeof AGENT_MESSAGES>

/** Where updates of a task are pushed to. */
export type TaskPush = RecordOf<typeof AGENT_PUSHES>

/** Pages are newest state first. `after` is `placeOfTask` of the last task of the page before. */
export interface TaskListQuery extends PageQuery {
  readonly key_id: string
  /** The apps of the key; null: all. Tasks of no app are always listed. */
  readonly apps: readonly string[] | null
  readonly context_id: string | null
  readonly state: TaskState | null
  /** Only tasks whose state is at least that recent. */
  readonly since: Instant | null
}

export const placeOfTask = ({ state_at, id }: TaskRecord): string => placeOf(state_at, id)

/**
 * Tasks without an edit or deployment, and bytes of them, that are kept of one account: questions, answers
 * and refusals, which cost no more than a read. An account that has more keeps of each key that writes its
 * share.
 */
export const KEPT_WITHOUT_WORK = { tasks: 1000, bytes: 32 * 1024 * 1024 } as const

/** Bytes of a page of tasks after which it ends. */
export const TASK_PAGE_BYTES = 1024 * 1024

/** `total` counts this many tasks at most, the newest. */
export const MOST_TASKS_COUNTED = 10_000

/** A message of the caller's, and its task. */
export interface SentMessage {
  readonly task: TaskRecord
  readonly message: TaskMessage
}

/** What becomes of a task that asked for input. */
export type TaskProgress = Pick<
  TaskRecord,
  | 'skill'
  | 'app_id'
  | 'record_path'
  | 'subject_id'
  | 'state'
  | 'asked'
  | 'answer'
  | 'failure'
  | 'charged'
> & { readonly at: Instant }

/** What becomes of a task as its edit or deployment goes on. */
export interface TaskMove {
  readonly state: Exclude<TaskState, 'submitted' | 'input_required'>
  readonly at: Instant
  readonly failure: TaskFailure | null
  readonly charged: number | null
}

export interface TaskReads {
  get(keyId: string, id: string): Promise<TaskRecord | undefined>
  /** The caller's message of this id that named this task; empty for none. */
  sent(keyId: string, messageId: string, about: string): Promise<SentMessage | undefined>
  list(query: TaskListQuery): Promise<Page<TaskRecord> & { readonly total: number }>
  /** The last messages, oldest first. */
  messages(taskId: string, last: number): Promise<readonly TaskMessage[]>
  /** The same of several tasks, by task. */
  messagesOfEach(
    taskIds: readonly string[],
    last: number,
  ): Promise<ReadonlyMap<string, readonly TaskMessage[]>>
  /** Bytes that tasks and their messages take, by task; an estimate. */
  sizes(taskIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** By id. */
  pushes(taskId: string): Promise<readonly TaskPush[]>
  /**
   * Pushes whose task has ended or is gone, oldest first: of an account, or null for all.
   *
   * @param before only those of tasks that ended before, as far as it is known
   */
  endedPushes(
    accountId: string | null,
    before: Instant,
    limit: number,
  ): Promise<readonly TaskPush[]>
}

export interface TaskWrites extends TaskReads {
  /**
   * False, changing nothing, when a message of this id, about the same task, has one: of concurrent callers
   * one inserts. Where the account has too many tasks without work, the oldest of the key are deleted.
   *
   * @param messages the caller's, then what the agent says of it
   */
  insert(task: TaskRecord, messages: readonly TaskMessage[]): Promise<boolean>
  /**
   * Gives a task that asks for input its work, its answer or its next question. False, changing nothing,
   * when it no longer asks, or a message took a number or an id that is used.
   */
  proceed(id: string, next: TaskProgress, messages: readonly TaskMessage[]): Promise<boolean>
  /**
   * Moves the task of an edit or deployment. Undefined, changing nothing, when there is none, or it is in
   * this state or in a final one.
   */
  move(subjectId: string, to: TaskMove): Promise<TaskRecord | undefined>
  /** The task, which does not change before this unit of work has ended. */
  lock(keyId: string, id: string): Promise<TaskRecord | undefined>
  /** Inserts or replaces the push of this id. */
  putPush(push: TaskPush): Promise<void>
  /** False, changing nothing, when the push of this id is gone, or has another webhook by now. */
  dropPush(push: Pick<TaskPush, 'task_id' | 'id' | 'webhook_id'>): Promise<boolean>
}
