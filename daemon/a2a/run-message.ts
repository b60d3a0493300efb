import { KeyhookError } from '../../lib/errors.ts'
import type {
  TaskFailure,
  TaskProgress,
  TaskRecord,
} from '../../plugins/platform/contract/tasks.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import { notifyTask } from '../jobs/tasks.ts'
import { splitArguments } from '../agents/arguments.ts'
import { agentError } from '../agents/errors.ts'
import type { SkillSpec } from '../agents/skills.ts'
import type { A2aCall } from './call.ts'
import { a2aError } from './errors.ts'
import type { Turn } from './messages.ts'
import { received, replied } from './messages.ts'
import { stateOf } from './states.ts'
import type { Understood } from './understand.ts'
import type { Message } from './wire.ts'

const MAX_ANSWER = 64 * 1024

/** Where a message belongs. */
export interface Place extends Turn {
  readonly call: A2aCall
  readonly message: Message
  readonly fingerprint: string
  /** The task that it answers; undefined: it begins one. */
  readonly before: TaskRecord | undefined
}

/**
 * Does what a message asks for, and keeps its task. False, changing nothing, when the message was taken
 * meanwhile.
 */
export function runMessage(place: Place, understood: Understood): Promise<boolean> {
  return RUN[understood.kind](place, understood as never)
}

type Of<Kind extends Understood['kind']> = Extract<Understood, { readonly kind: Kind }>

const RUN: {
  readonly [Kind in Understood['kind']]: (place: Place, understood: Of<Kind>) => Promise<boolean>
} = {
  async ask(place, { skill, asked, question, choices }) {
    const next = progress(place, skill, asked, { state: 'input_required' })
    const parts = [{ text: question }, { data: choices, mediaType: 'application/json' }]
    return keepInUnit(place, next, [replied(place, parts)])
  },
  async no_app(place, { skill, asked }) {
    const failure = failureOf(
      place.call,
      agentError('app_required', { message: 'There is no app yet. Build one first.' }),
    )
    const next = { state: 'rejected', failure, charged: 0 } as const
    return keepInUnit(place, progress(place, skill, asked, next))
  },
  async call(place, { skill, asked, input }) {
    try {
      return await callSkill(place, skill, asked, input)
    } catch (cause) {
      if (!(cause instanceof KeyhookError) || !isRejection(cause)) throw cause
      const failure = failureOf(place.call, cause)
      const app_id = appOf(input)
      const next = { state: 'rejected', failure, charged: 0, app_id } as const
      return keepInUnit(place, progress(place, skill, asked, next))
    }
  },
}

/** Refusals of the work itself; the others are of the request. */
const REJECTIONS: ReadonlySet<number> = new Set([402, 409, 422, 501])

const isRejection = ({ status, code }: KeyhookError): boolean =>
  REJECTIONS.has(status) && code !== 'idempotency_in_progress'

function failureOf({ requestId }: A2aCall, { code, message, status }: KeyhookError): TaskFailure {
  return { code, class: 'request', message, retryable: status === 409, request_id: requestId }
}

const appOf = ({ app_id }: Readonly<Record<string, unknown>>): string | null =>
  typeof app_id === 'string' ? app_id : null

async function callSkill(
  place: Place,
  skill: SkillSpec,
  asked: TaskRecord['asked'],
  input: TaskRecord['asked']['input'],
): Promise<boolean> {
  const { call, fingerprint } = place
  const { operation } = skill.tool
  const { params, query, body } = splitArguments(skill.tool, input)
  const own = { app_id: appOf(input) }
  const isWrite = operation.effect === 'write'
  let isMade = false
  const answer = await call.run({
    operation,
    params,
    query,
    body,
    ...(isWrite && {
      idempotencyKey: `a2a:${fingerprint}`,
      async alsoCommit(tx: PlatformTx, { body: text, status }: { body: string; status: number }) {
        const record = JSON.parse(text) as Readonly<Record<string, unknown>>
        const work = workOf(call, skill, record, status) ?? { answer: text }
        const next = progress(place, skill, asked, { ...own, ...work })
        if (!(await keep(tx, place, next))) throw a2aError('message_id_reused')
        isMade = true
      },
    }),
  })
  if (answer.kind !== 'json') throw new TypeError(`${operation.id} is no skill`)
  if (isMade) return true
  if (answer.replayed) {
    const record = JSON.parse(answer.text) as Readonly<Record<string, unknown>>
    const work = workOf(call, skill, record, answer.status) ?? { answer: answer.text }
    const next = { ...own, ...work }
    return keepInUnit(place, progress(place, skill, asked, next))
  }
  if (Buffer.byteLength(answer.text) > MAX_ANSWER) {
    const failure = failureOf(call, agentError('result_too_large'))
    const next = { ...own, state: 'failed', failure, charged: 0 } as const
    return keepInUnit(place, progress(place, skill, asked, next))
  }
  const next = { ...own, state: 'completed', answer: answer.text, charged: 0 } as const
  return keepInUnit(place, progress(place, skill, asked, next))
}

/**
 * What a task says of the work that a response accepted or did. Undefined: there is nothing to follow, such
 * as a price, and the response is the answer.
 */
function workOf(
  { agent }: A2aCall,
  { tool: { operation } }: SkillSpec,
  record: Readonly<Record<string, unknown>>,
  status: number,
): Partial<TaskProgress> | undefined {
  const record_path = operation.watch?.(record as never)
  if (record['id'] === null || record_path === undefined) return undefined
  if (agent.findWork(operation, record_path) === undefined) return undefined
  const isAccepted = status === 202
  const state = stateOf(record, isAccepted)
  const { edit_id, app_id = record['id'] } = record
  const isApp = /^\/v1\/apps\/[^/]+$/.test(record_path)
  const subject = isApp && typeof edit_id === 'string' ? edit_id : record_path.split('/').at(-1)
  return {
    ...(typeof app_id === 'string' && { app_id }),
    record_path,
    // Work that has ended already may be that of another task.
    subject_id: isAccepted ? (subject ?? null) : null,
    state,
  }
}

function progress(
  { call, before }: Place,
  skill: SkillSpec | undefined,
  asked: TaskRecord['asked'],
  next: Partial<TaskProgress>,
): TaskProgress {
  return {
    skill: skill?.tool.operation.id ?? '',
    app_id: before?.app_id ?? null,
    record_path: null,
    subject_id: null,
    state: 'completed',
    asked,
    answer: null,
    failure: null,
    charged: null,
    at: call.platform.clock.now(),
    ...next,
  }
}

function keepInUnit(
  place: Place,
  next: TaskProgress,
  replies: Parameters<typeof keep>[3] = [],
): Promise<boolean> {
  return place.call.platform.store.write((tx) => keep(tx, place, next, replies))
}

/** Inserts the task, or moves on the one that asked. */
async function keep(
  tx: PlatformTx,
  place: Place,
  next: TaskProgress,
  replies: readonly ReturnType<typeof replied>[] = [],
): Promise<boolean> {
  const { call, task, before, message, fingerprint } = place
  const messages = [received(place, message, fingerprint), ...replies]
  const { at, ...rest } = next
  if (before !== undefined) {
    const hasProceeded = await tx.tasks.proceed(task.id, next, messages)
    if (hasProceeded) await notifyTask(call.platform, tx, { ...before, ...rest, state_at: at })
    return hasProceeded
  }
  const { account_id, key } = call.principal
  const row = { ...task, ...rest, account_id, key_id: key.id }
  const since = { state_at: at, started_at: null, created_at: at, updated_at: at }
  return tx.tasks.insert({ ...row, ...since }, messages)
}
