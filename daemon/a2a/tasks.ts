import { KeyhookError } from '../../lib/errors.ts'
import type {
  TaskMessage,
  TaskProgress,
  TaskRecord,
  TaskState,
} from '../../plugins/platform/contract/tasks.ts'
import { placeOfTask } from '../../plugins/platform/contract/tasks.ts'
import { pinsOf } from '../authority/principal.ts'
import { waitUntil } from '../families/wait.ts'
import { STATE_NAMES, asMessage, statusOf, notifyTask } from '../jobs/tasks.ts'
import { artifactsOf } from './artifacts.ts'
import type { A2aCall } from './call.ts'
import { refreshTask } from './refresh.ts'
import { isUnderWay } from './states.ts'
import type { ListRequest, WireTask, WireTaskList } from './wire.ts'
import { ProtocolError } from './protocol-errors.ts'

/** Messages of one task that are shown at most. */
const MAX_SHOWN = 40
/** Bytes at which a page of tasks ends. */
const PAGE_BYTES = 1024 * 1024
/** Bytes of one message at most: those of a request. */
const MAX_MESSAGE_BYTES = 512 * 1024
/** Seconds that a cancellation waits for work that stops at its next step. */
const CANCEL_WAIT = 10

/**
 * The caller's task.
 *
 * @throws ProtocolError `TASK_NOT_FOUND` also for a task of another key, and of an app that the key is not pinned to
 */
export async function requireTask(call: A2aCall, id: string): Promise<TaskRecord> {
  const { platform, principal } = call
  const task = await platform.store.tasks.get(principal.key.id, id)
  const pins = pinsOf(principal)
  const isHidden =
    pins !== null && task !== undefined && task.app_id !== null && !pins.includes(task.app_id)
  if (task === undefined || isHidden) throw new ProtocolError('TASK_NOT_FOUND')
  return task
}

/** What a task is printed with. */
export interface Shown {
  /** Most messages; undefined: all. */
  readonly historyLength: number | undefined
  readonly artifacts: boolean
}

export async function printTask(
  call: A2aCall,
  task: TaskRecord,
  { historyLength = MAX_SHOWN, artifacts }: Shown,
): Promise<WireTask> {
  const shown = Math.min(historyLength, MAX_SHOWN)
  const said = await readMessages(call, [task], shown)
  return print(call, task, { said, shown, artifacts })
}

/** The last messages of each task. */
type Said = ReadonlyMap<string, readonly TaskMessage[]>

/**
 * Reads messages in one query, in the account's turn, once their bytes are reserved.
 *
 * @param shown messages of each task that are shown; a task that asks says its question besides
 */
function readMessages(
  call: A2aCall,
  tasks: readonly TaskRecord[],
  shown: number,
): Promise<Said> | Said {
  const asking = tasks.filter(({ state }) => shown > 0 || state === 'input_required')
  const ids = asking.map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const { platform, principal, left } = call
  const { tasks: reads } = platform.store
  const turn = { holder: principal.account_id, signal: left }
  // What is read here alone has a turn: artifacts are calls, which may wait for one themselves.
  return platform.queues.largePages(turn, async () => {
    if (shown > 0) {
      const sizes = await reads.sizes(ids)
      const most = shown * MAX_MESSAGE_BYTES
      call.reserve(sumOf(ids.map((id) => Math.min(sizes.get(id) ?? 0, most))))
    }
    return reads.messagesOfEach(ids, Math.max(shown, 1))
  })
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

interface Printed {
  readonly said: Said
  /** Messages. */
  readonly shown: number
  readonly artifacts: boolean
}

async function print(
  call: A2aCall,
  task: TaskRecord,
  { said, shown, artifacts }: Printed,
): Promise<WireTask> {
  const all = said.get(task.id) ?? []
  const messages = shown === 0 ? [] : all.slice(-shown)
  const reads = { messages: async (_: string, last: number) => all.slice(-last) }
  const history = messages.map(asMessage)
  const made = artifacts ? await artifactsOf(call, task) : []
  return {
    id: task.id,
    contextId: task.context_id,
    status: await statusOf(reads, task),
    ...(made.length > 0 && { artifacts: made }),
    ...(history.length > 0 && { history }),
    ...(task.skill !== '' && { metadata: { skill: task.skill.replaceAll('.', '_') } }),
  }
}

export async function listTasks(call: A2aCall, request: ListRequest): Promise<WireTaskList> {
  const { platform, principal } = call
  const { contextId, status, pageSize, pageToken, historyLength = 0, includeArtifacts } = request
  const state = stateNamed(status)
  const since = request.statusTimestampAfter
  const none = { tasks: [], nextPageToken: '', pageSize, totalSize: 0 }
  if (state === undefined) return none
  const page = await platform.store.tasks.list({
    key_id: principal.key.id,
    apps: pinsOf(principal),
    context_id: contextId === '' ? null : contextId,
    state,
    since: since === undefined ? null : Date.parse(since),
    limit: pageSize,
    after: pageToken === '' ? null : pageToken,
  })
  const shown = Math.min(historyLength, MAX_SHOWN)
  const rows = shown === 0 ? page.rows : await fitting(call, page.rows)
  const said = await readMessages(call, rows, shown)
  const tasks: WireTask[] = []
  let bytes = 0
  for (const record of rows) {
    const task = await print(call, record, { said, shown, artifacts: includeArtifacts })
    tasks.push(task)
    bytes += Buffer.byteLength(JSON.stringify(task))
    if (bytes > PAGE_BYTES) break
  }
  const last = page.rows[tasks.length - 1]
  const isCut = tasks.length < page.rows.length
  const next =
    isCut || page.more ? ((isCut ? undefined : page.next) ?? (last && placeOfTask(last))) : ''
  return { tasks, nextPageToken: next ?? '', pageSize, totalSize: page.total }
}

/** The first rows whose messages fit a page, and one at least. */
async function fitting(
  { platform }: A2aCall,
  rows: readonly TaskRecord[],
): Promise<readonly TaskRecord[]> {
  const sizes = await platform.store.tasks.sizes(rows.map(({ id }) => id))
  let bytes = 0
  const end = rows.findIndex(({ id }) => (bytes += sizes.get(id) ?? 0) > PAGE_BYTES)
  return end === -1 ? rows : rows.slice(0, Math.max(end, 1))
}

/** Null: any. Undefined: one that no task of this service has. */
function stateNamed(status: ListRequest['status']): TaskState | null | undefined {
  if (status === undefined || status === 'TASK_STATE_UNSPECIFIED') return null
  const names = Object.entries(STATE_NAMES) as readonly (readonly [TaskState, string])[]
  return names.find(([, name]) => name === status)?.[0]
}

/** Seconds. Less than the listener leaves a connection on which nothing is sent. */
const LONGEST_WAIT = 100

/** Waits until a task has ended or asks for input, or is still under way after the longest wait. */
export async function awaitEnd(
  call: A2aCall,
  task: TaskRecord,
  seconds = LONGEST_WAIT,
): Promise<TaskRecord> {
  const { platform, principal, left } = call
  const waiting = { platform, principal, admit: call.admit, abandoned: () => left }
  const known = await waitUntil(
    waiting,
    seconds,
    task,
    ({ state }) => !isUnderWay(state),
    () => platform.store.tasks.get(principal.key.id, task.id),
  )
  return refreshTask(call, known)
}

/** @throws ProtocolError `TASK_NOT_CANCELABLE` for a task that has ended, or whose work cannot be stopped */
export async function cancelTask(call: A2aCall, id: string): Promise<TaskRecord> {
  const { platform } = call
  const task = await requireTask(call, id)
  if (task.state === 'input_required') {
    const at = platform.clock.now()
    const canceled: TaskProgress = { ...task, state: 'canceled', charged: 0, at }
    await platform.store.write(async (tx) => {
      if (await tx.tasks.proceed(id, canceled, []))
        await notifyTask(platform, tx, { ...task, ...canceled, state_at: at })
    })
    const now = await requireTask(call, id)
    if (now.state !== 'canceled') throw new ProtocolError('TASK_NOT_CANCELABLE')
    return now
  }
  if (!isUnderWay(task.state)) throw new ProtocolError('TASK_NOT_CANCELABLE')
  await cancelWork(call, task)
  return awaitEnd(call, await requireTask(call, id), CANCEL_WAIT)
}

async function cancelWork({ agent, run }: A2aCall, task: TaskRecord): Promise<void> {
  const operation = agent.operations.find(({ id }) => id === task.skill)
  const path = workPath(task)
  if (path === null || operation === undefined) throw new ProtocolError('TASK_NOT_CANCELABLE')
  const work = agent.findWork(operation, path)
  const cancel = agent.operations.find((one) => one.path === `${work?.record.path}/cancel`)
  if (work === undefined || cancel === undefined) throw new ProtocolError('TASK_NOT_CANCELABLE')
  try {
    await run({ operation: cancel, params: work.params })
  } catch (cause) {
    // It ended meanwhile.
    if (cause instanceof KeyhookError && cause.status === 409)
      throw new ProtocolError('TASK_NOT_CANCELABLE')
    throw cause
  }
}

/** The path of the edit or deployment: an app is made by its first edit. */
function workPath({ record_path, subject_id }: TaskRecord): string | null {
  const isApp = /^\/v1\/apps\/[^/]+$/.test(record_path ?? '')
  return isApp && subject_id !== null ? `${record_path}/edits/${subject_id}` : record_path
}
