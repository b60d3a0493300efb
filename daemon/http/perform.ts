import type { RequiredScope } from '../../lib/scope/cover.ts'
import { requiredScope } from '../../lib/scope/cover.ts'
import type { StoreTx } from '../../plugins/store/contract.ts'
import type { Call, Operation } from '../family.ts'
import type { Platform } from '../platform.ts'
import { requireStanding } from './standing.ts'

/** What is answered, before it is HTTP. */
export interface Answer {
  readonly status: number
  readonly body: string
  readonly replayed: boolean
}

/** Operations check the type of their own input; here it is only handed on. */
export type AnyCall = Omit<Call, 'params' | 'query' | 'body' | 'prepared'> & {
  readonly params: never
  readonly query: never
  readonly body: never
  readonly prepared: undefined
}

/** An operation whose `run` is, or may be, a unit of work. */
export type UnitOperation = Extract<Operation, { effect: 'write' | 'publish' }>

/** Runs an operation by itself, and answers after its commit. */
export async function perform(operation: Operation, call: AnyCall): Promise<Answer> {
  switch (operation.effect) {
    case 'write':
      return firstAnswer(
        operation,
        await call.platform.store.write(await prepareRun(operation, call)),
      )
    case 'publish':
      return firstAnswer(operation, await operation.run({ ...call, tx: undefined }))
    case 'read':
    case 'own':
      return firstAnswer(operation, await operation.run(call))
  }
}

/** What takes long is done before the unit of work begins. */
export async function prepareRun(
  operation: UnitOperation,
  call: AnyCall,
): Promise<(tx: StoreTx) => Promise<unknown>> {
  const run = await runnerOf(operation, call)
  return async (tx) => {
    await requireStanding(tx, call.principal, scopeOf(operation, call.platform), call.now)
    return run(tx)
  }
}

/** What a key must still hold; what acts on the key itself needs no scope. */
function scopeOf({ access }: Operation, { universe }: Platform): RequiredScope | undefined {
  return typeof access === 'object' && access.self === undefined
    ? requiredScope(access.scope, universe)
    : undefined
}

async function runnerOf(
  operation: UnitOperation,
  call: AnyCall,
): Promise<(tx: StoreTx) => Promise<unknown>> {
  if (operation.effect === 'publish') return (tx) => operation.run({ ...call, tx })
  const prepared = await operation.prepare?.(call)
  return (tx) => operation.run({ ...call, tx, prepared })
}

/** What is answered the first time. */
export function firstAnswer(operation: Operation, result: unknown): Answer {
  return { status: operation.status ?? 200, body: JSON.stringify(result), replayed: false }
}
