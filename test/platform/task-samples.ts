import type {
  TaskMessage,
  TaskProgress,
  TaskRecord,
} from '../../plugins/platform/contract/tasks.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'

/** An edit that waits. */
export function sampleTask(id: string, changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id,
    account_id: ACCOUNT,
    key_id: 'key_1',
    context_id: 'context_1',
    skill: 'edits.create',
    app_id: 'app_1',
    record_path: `/v1/apps/app_1/edits/edit_${id}`,
    subject_id: `edit_${id}`,
    state: 'submitted',
    state_at: BORN,
    started_at: null,
    asked: { input: { app_id: 'app_1' }, text: 'Make the button blue' },
    answer: null,
    failure: null,
    charged: null,
    created_at: BORN,
    updated_at: BORN,
    ...changes,
  }
}

/** A task that asks which app is meant. */
export const sampleQuestion = (id: string, changes: Partial<TaskRecord> = {}): TaskRecord =>
  sampleTask(id, {
    app_id: null,
    record_path: null,
    subject_id: null,
    state: 'input_required',
    ...changes,
  })

/** A message of the caller's. */
export function sampleMessage(taskId: string, changes: Partial<TaskMessage> = {}): TaskMessage {
  const message_id = changes.message_id ?? `message_${taskId}`
  return {
    task_id: taskId,
    number: 1,
    key_id: 'key_1',
    message_id,
    role: 'user',
    fingerprint: `print ${message_id}`,
    body: { messageId: message_id, parts: [{ text: 'Mach den Knopf blau: $1 \u{1F499}' }] },
    at: BORN,
    about: '',
    stands: true,
    ...changes,
  }
}

export const sampleProgress = (changes: Partial<TaskProgress> = {}): TaskProgress => ({
  skill: 'edits.create',
  app_id: 'app_1',
  record_path: '/v1/apps/app_1/edits/edit_1',
  subject_id: 'edit_1',
  state: 'submitted',
  asked: { input: { app_id: 'app_1' }, text: 'Make the button blue' },
  answer: null,
  failure: null,
  charged: null,
  at: BORN + 5,
  ...changes,
})

export const insertTask = (
  store: PlatformStore,
  task: TaskRecord,
  ...messages: readonly TaskMessage[]
): Promise<boolean> =>
  store.write((tx) =>
    tx.tasks.insert(task, messages.length === 0 ? [sampleMessage(task.id)] : messages),
  )
