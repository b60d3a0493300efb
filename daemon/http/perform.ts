import { KeyhookError } from '../../lib/errors.ts'
import type { Instant } from '../../lib/time.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import type { Call, OwnCall, PublishCall } from '../operations/call.ts'
import type { Effect, Operation } from '../operations/operation.ts'
import type { GivenPart } from '../operations/parts.ts'
import { httpError } from '../operations/errors.ts'
import { printJson } from '../operations/print-json.ts'
import { writeBegun, writeInTurn } from '../queues/writes.ts'

/** A response before it becomes HTTP. */
export interface Answer {
  readonly status: number
  readonly body: string
  readonly replayed: boolean
}

/**
 * Adds to the unit of work of an operation, after it and before the commit; not for a replay.
 *
 * @param answer the operation's response
 */
export type CommitsAlso = (tx: PlatformTx, answer: Answer) => Promise<void>

/** Each operation checks the type of its own input; here it is only passed on. */
export type AnyCall = Omit<Call, 'params' | 'query' | 'body' | 'prepared'> & {
  readonly params: never
  readonly query: never
  readonly body: never
  readonly prepared: undefined
  /** An operation that publishes gets the call as it is, without a copy; `releaseBody` depends on it. */
  readonly tx: undefined
  readonly releaseBody: PublishCall['releaseBody']
  /**
   * Refuses a caller that may no longer do this, read in a unit of work.
   *
   * @throws KeyhookError
   */
  readonly confirm: (tx: PlatformTx, now: Instant) => Promise<void>
  /** Undefined: nothing more is committed. */
  readonly alsoCommit: CommitsAlso | undefined
  /** Parts of a multipart body. */
  readonly parts: AsyncIterable<GivenPart> | undefined
  /** Whether the connection for the response is gone. */
  readonly hasLeft: () => boolean
  /** Logs a failure beside the response. */
  readonly report: (cause: unknown) => void
}

/** An operation whose `run` is, or may be, a unit of work. */
export type UnitOperation = Operation<'write' | 'publish'>

type AnsweredEffect = Exclude<Effect, 'stream' | 'bytes'>

/** An operation with a single JSON response. */
export type Answered = Operation<AnsweredEffect>

type Perform<One extends AnsweredEffect> = (
  operation: Operation<One>,
  call: AnyCall,
) => Promise<Answer>

const PERFORM: { readonly [One in AnsweredEffect]: Perform<One> } = {
  async read(operation, call) {
    return firstAnswer(operation, await operation.run(call))
  },
  async write(operation, call) {
    const unit = await prepareUnit(operation, call)
    const committed = await unit.commit(() => writeInTurn(call, unit.run))
    return answerCommitted(operation, call, committed)
  },
  async publish(operation, call) {
    return firstAnswer(operation, await operation.run(call))
  },
  async own(operation, call) {
    return firstAnswer(operation, await operation.run(toOwnCall(call)))
  },
}

/** Whether only the price is requested. */
export function isDryRun({ quote }: Operation, query: unknown): boolean {
  return quote !== undefined && (query as { readonly dry_run?: string }).dry_run === 'true'
}

/** Responds with the price of an operation. */
export async function performQuote({ quote }: Operation, call: AnyCall): Promise<Answer> {
  // Reading the body may have taken long.
  await call.admit()
  const { parts = none() } = call
  return { status: 200, body: printJson(await quote?.run({ ...call, parts })), replayed: false }
}

/** Runs an operation, and responds after its commit. */
export function perform<One extends AnsweredEffect>(
  operation: Operation<One>,
  call: AnyCall,
): Promise<Answer> {
  return PERFORM[operation.effect](operation, call)
}

function toOwnCall(call: AnyCall): OwnCall<never> {
  const { parts = none() } = call
  return {
    ...call,
    parts,
    unit: (work, { detached = false } = {}) =>
      writeBegun(call, async (tx) => {
        if (!detached) requirePresent(call)
        // Previous steps may have taken long.
        await call.confirm(tx, call.platform.clock.now())
        return work(tx)
      }),
  }
}

async function* none(): AsyncGenerator<never> {}

/** A unit of work before it begins. */
export interface PreparedUnit {
  run(tx: PlatformTx): Promise<unknown>
  /**
   * Commits the unit by `write`, which calls `run`. Discards what was prepared when `run` did not succeed.
   * After `run` succeeded, an error does not prove that nothing was committed, and the operation is
   * notified of the unknown outcome.
   */
  commit<T>(write: () => Promise<T>): Promise<T>
}

/** Runs long work before the unit of work begins. */
export async function prepareUnit(operation: UnitOperation, call: AnyCall): Promise<PreparedUnit> {
  const { work, discard, onUnknownOutcome } = await workOf(operation, call)
  let hasRun = false
  return {
    async run(tx) {
      requirePresent(call)
      await call.confirm(tx, call.now)
      const result = await work(tx)
      await call.alsoCommit?.(tx, firstAnswer(operation, result))
      hasRun = true
      return result
    },
    async commit(write) {
      try {
        return await write()
      } catch (cause) {
        if (hasRun) onUnknownOutcome()
        throw cause
      } finally {
        if (!hasRun) await discard()
      }
    },
  }
}

/**
 * Refuses work whose client has disconnected. The client may have repeated the request and made further
 * changes since; late work would undo them.
 *
 * @throws KeyhookError `request_abandoned`
 */
function requirePresent({ hasLeft }: AnyCall): void {
  if (hasLeft()) throw httpError('request_abandoned')
}

async function workOf(
  operation: UnitOperation,
  call: AnyCall,
): Promise<{
  work(tx: PlatformTx): Promise<unknown>
  discard(): Promise<void>
  onUnknownOutcome(): void
}> {
  if (operation.effect === 'publish') {
    return {
      work: (tx) => operation.run({ ...call, tx }),
      discard: async () => undefined,
      onUnknownOutcome: () => undefined,
    }
  }
  const prepared = await operation.prepare?.(call)
  return {
    work: (tx) => operation.run({ ...call, tx, prepared }),
    discard: async () => operation.discard?.(call, prepared),
    onUnknownOutcome: () => operation.onUnknownOutcome?.(call, prepared),
  }
}

/** The first response of an operation. */
export function firstAnswer(operation: Operation, result: unknown): Answer {
  const status = operation.accepted?.(result) === true ? 202 : (operation.status ?? 200)
  return { status, body: printJson(result), replayed: false }
}

/** The response after a unit of work was committed. */
export async function answerCommitted(
  operation: UnitOperation,
  call: AnyCall,
  committed: unknown,
): Promise<Answer> {
  const later = operation.effect === 'write' ? operation.afterCommit : undefined
  try {
    return firstAnswer(operation, later === undefined ? committed : await later(call, committed))
  } catch (cause) {
    // The later state cannot be read, or the caller may no longer see it: the response is the
    // committed one.
    if (!(cause instanceof KeyhookError)) throw cause
    return firstAnswer(operation, committed)
  }
}
