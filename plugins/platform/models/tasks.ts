import { big, flag, id, int, json, orNull, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

export const TASK_STATES = [
  'submitted',
  'working',
  'input_required',
  'completed',
  'failed',
  'canceled',
  'rejected',
] as const

export type TaskState = (typeof TASK_STATES)[number]

/** What has been asked for so far: arguments by name, and the text that fills one of them. */
export interface TaskRequest {
  readonly input: Readonly<Record<string, unknown>>
  readonly text: string
}

/** Why a task failed or was rejected. */
export interface TaskFailure {
  readonly code: string
  /** Kind of the cause, such as `request` or `transient`: it says who can fix it. */
  readonly class: string
  readonly message: string
  readonly retryable: boolean
  readonly request_id: string | null
}

/** One edit, deployment or read that an agent asked for, by the key that asked. */
export const AGENT_TASKS = defineModel(
  'agent_tasks',
  {
    /** Time-ordered. */
    id: id(),
    account_id: id(),
    key_id: id(),
    /** Groups the tasks of one conversation. */
    context_id: id(),
    /** Operation id; empty until one is chosen. */
    skill: text(),
    app_id: orNull(id()),
    /** Path of the edit or deployment. */
    record_path: orNull(text()),
    /** The edit or deployment. */
    subject_id: orNull(id()),
    state: text<TaskState>(),
    /** Since when it is in this state; never goes back. */
    state_at: big(),
    /** Since when its work is under way; null while it waits, and for work that never began. */
    started_at: orNull(big()),
    asked: json<TaskRequest>(),
    /** JSON text of the answer of a read. */
    answer: orNull(text()),
    failure: orNull(json<TaskFailure>()),
    /** Micros; null while it is under way. */
    charged: orNull(big()),
    created_at: big(),
    updated_at: big(),
  },
  { bytes: big() },
)

/** A webhook that receives the updates of one task alone. */
export const AGENT_PUSHES = defineModel('agent_pushes', {
  task_id: id(),
  /** Chosen by the caller. */
  id: id(),
  account_id: id(),
  webhook_id: id(),
  /** Scheme of the credentials that are sent; null for none. */
  scheme: orNull(text()),
  created_at: big(),
})

/** What was said about a task, by the caller and by the agent. */
export const AGENT_MESSAGES = defineModel('agent_messages', {
  task_id: id(),
  /** From 1. */
  number: int(),
  key_id: id(),
  message_id: id(),
  role: text<'user' | 'agent'>(),
  /** SHA-256 of what the caller sent; empty for the agent's. */
  fingerprint: id(),
  /** As the protocol prints it. */
  body: json<Readonly<Record<string, unknown>>>(),
  at: big(),
  /** The task that the message named; empty for none. */
  about: id(),
  /** Whether a message of its id is this one; false for those of the agent. */
  stands: flag(),
})
