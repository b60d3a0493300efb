import type { Clock } from '../../lib/engine/ports.ts'
import { KeyhookError } from '../../lib/errors.ts'
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'
import type { FindWork, FollowedWork } from '../agents/follow.ts'
import type { ToolSpec } from '../agents/tools.ts'
import type { InnerEvents, InnerResponse } from '../http/inner-context.ts'
import { abandonedBy } from '../http/response-end.ts'
import type { Via } from '../operations/call.ts'
import type { WireRecord } from '../operations/agent.ts'
import { httpError } from '../operations/errors.ts'
import type { Operation } from '../operations/operation.ts'
import type { McpCall } from './mcp-call.ts'
import { callOnce } from './mcp-call.ts'

/** How long work is followed that reports its progress; its own deadline ends it earlier. */
const REPORTED: Millis = 1800 * SECOND
/** The same without reports: clients give up after a minute. */
const SILENT: Millis = 20 * SECOND
/** Seconds that a caller may choose. */
export const MAX_WAIT = 25
/** Seconds to follow work; `default`: as long as it reports its progress, or a while. */
export type Wait = number | 'default'
/** Reports of one call that its reader may leave unread. */
const MAX_REPORTS = 500

/** Tells the client how far the work is. */
export interface Reporter {
  /** Aborts when the client cancels the call. */
  readonly signal: AbortSignal
  report(message: string): Promise<void>
}

/** Work that an accepting response began. */
interface Begun {
  /** How its record is read. */
  readonly work: FollowedWork
  /** How its progress is read: as the record's, or as that of work inside it. */
  readonly events: Operation
  readonly params: FollowedWork['params']
}

/** Finds the work that a tool begins, by a response that accepts it. */
export function findBegun(find: FindWork, { operation, use }: ToolSpec, answer: WireRecord) {
  const path = operation.watch?.(answer as never)
  const work = path === undefined ? undefined : find(operation, path)
  if (path === undefined || work?.isWhole !== true) return undefined
  const inside = use.follow?.(answer)
  const followed = inside === undefined ? work : find(operation, inside)
  if (followed?.events === undefined) return undefined
  return { work, events: followed.events, params: followed.params } satisfies Begun
}

/** Whether the caller may follow what the tool begins; otherwise the operation itself waits. */
export function mayFollow({ ctx, options, find }: McpCall, tool: ToolSpec): boolean {
  const { accepted, response } = tool.operation.example
  const begun = findBegun(find, tool, (accepted ?? response) as WireRecord)
  const { principal } = ctx.state
  return (
    begun !== undefined &&
    principal !== undefined &&
    [begun.events, begun.work.record].every((one) => options.calls.allows(principal, one))
  )
}

/**
 * Waits for the end of accepted work. The caller may leave at any time: the work goes on.
 *
 * @returns the response with the record as it is then
 * @throws KeyhookError as soon as the caller may no longer read it, or has left
 */
export async function followWork(
  call: McpCall,
  tool: ToolSpec,
  accepted: InnerResponse,
  { via, wait, reporter }: { via: Via; wait: Wait; reporter: Reporter | undefined },
): Promise<InnerResponse> {
  const answer = JSON.parse(accepted.text) as WireRecord
  const begun = accepted.status === 202 ? findBegun(call.find, tool, answer) : undefined
  if (begun === undefined) return accepted
  try {
    const byDefault = reporter === undefined ? SILENT : REPORTED
    const time = wait === 'default' ? byDefault : wait * SECOND
    await readToEnd(call, begun, { via, reporter, time })
    const { record, params } = begun.work
    const { text } = await callOnce(call, { operation: record, params, via })
    return update(tool, accepted, { ...answer, ...(JSON.parse(text) as WireRecord) })
  } catch (cause) {
    // The work was accepted, which a busy moment must not hide.
    if (cause instanceof KeyhookError && BUSY.has(cause.status)) return accepted
    throw cause
  }
}

const BUSY: ReadonlySet<number> = new Set([429, 503])

function update(
  { operation }: ToolSpec,
  accepted: InnerResponse,
  answer: WireRecord,
): InnerResponse {
  const isOpen = operation.accepted?.(answer as never) === true
  const status = isOpen ? 202 : (operation.status ?? 200)
  const watch = isOpen ? accepted.watch : undefined
  return { ...accepted, status, watch, text: JSON.stringify(answer) }
}

/** Reads events to the last one, or until the time is over. */
async function readToEnd(
  call: McpCall,
  { events: operation, params }: Begun,
  { via, time, reporter }: { via: Via; time: Millis; reporter: Reporter | undefined },
): Promise<void> {
  const { ctx, options } = call
  const response = await options.calls.run(ctx, { operation, params, via })
  if (response.kind !== 'events') throw new TypeError(`${operation.id} answers without events`)
  const { leave } = response
  const left = abandonedBy(ctx.req, ctx.res)
  const isLeft = (): boolean => left.aborted || reporter?.signal.aborted === true
  const signals = [left, ...(reporter === undefined ? [] : [reporter.signal])]
  for (const signal of signals) signal.addEventListener('abort', leave, { once: true })
  let isOver = false
  const cancelTimer = options.platform.clock.after(time, () => {
    isOver = true
    leave()
  })
  const watch = watchAdmission(options.platform.clock, response)
  try {
    if (!isLeft()) await reportAll(response, reporter)
  } catch (cause) {
    // Who leaves ends a read that waits for its turn.
    if (!isOver && watch.refusal() === undefined) throw cause
  } finally {
    cancelTimer()
    watch.end()
    for (const signal of signals) signal.removeEventListener('abort', leave)
    leave()
  }
  const refusal = watch.refusal()
  if (refusal !== undefined) throw refusal
  if (isLeft()) throw httpError('request_abandoned')
}

/** How often a silent wait asks whether its caller may still read: as often as REST does. */
const ADMIT_EVERY: Millis = SECOND

/** Leaves events, which may stay silent for long, as soon as the caller may no longer read them. */
function watchAdmission(
  clock: Pick<Clock, 'after'>,
  { admit, leave }: Pick<InnerEvents, 'admit' | 'leave'>,
): { refusal(): Error | undefined; end(): void } {
  let refusal: Error | undefined
  let cancel = (): void => undefined
  let isEnded = false
  const look = (): void => {
    if (isEnded) return
    cancel = clock.after(ADMIT_EVERY, () => {
      admit().then(look, (cause: unknown) => {
        refusal = cause instanceof Error ? cause : httpError('internal_error', { cause })
        leave()
      })
    })
  }
  look()
  return {
    refusal: () => refusal,
    end() {
      isEnded = true
      cancel()
    },
  }
}

async function reportAll(
  { events, admit }: InnerEvents,
  reporter: Reporter | undefined,
): Promise<void> {
  let reports = 0
  for await (const { event, data } of events) {
    await admit()
    const message = reports < MAX_REPORTS ? messageOf(data as WireRecord) : undefined
    if (message !== undefined) {
      await reporter?.report(message)
      reports += 1
    }
    if (event === 'end') return
  }
}

/** A line's message, or the state of a record. */
function messageOf({ message, status, stage, step }: WireRecord): string | undefined {
  if (typeof message === 'string') return message
  const words = [status, stage, step].filter((one) => typeof one === 'string')
  return words.length === 0 ? undefined : words.join(': ')
}
