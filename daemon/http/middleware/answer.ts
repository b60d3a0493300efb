import type { RequiredScope } from '../../../lib/scope/cover.ts'
import { requiredScope } from '../../../lib/scope/cover.ts'
import type { StoreTx } from '../../../plugins/store/contract.ts'
import type { RequestReads } from '../../../plugins/store/contract/requests.ts'
import { HOUR, MINUTE } from '../../../lib/time.ts'
import type { Call, Operation } from '../../family.ts'
import type { Platform } from '../../platform.ts'
import type { Principal } from '../../principal.ts'
import { httpError } from '../../errors.ts'
import { requireStanding } from '../standing.ts'
import type { RequestContext, Step } from '../state.ts'

/** How long an `Idempotency-Key` is remembered. */
const REMEMBERED = 24 * HOUR
/** How long work that cannot be rolled back holds its key, should the process die in it. */
const CLAIMED = MINUTE
const KEY = /^[\x21-\x7e]{1,255}$/

interface Answer {
  readonly status: number
  readonly body: string
  readonly replayed: boolean
}

/** The place of a request among those that bear the same key. */
interface Idempotency {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
}

/**
 * Runs the operation and answers after its commit.
 *
 * Under an `Idempotency-Key` the answer is stored in the same unit of work as the effect: a concurrent
 * twin waits for it and gets the same. What cannot be rolled back claims its key first, and a twin is
 * refused while it runs.
 */
export function answer(operation: Operation, platform: Platform): Step {
  return async function answer(ctx) {
    const call = toCall(ctx, platform)
    const idempotency = idempotencyOf(ctx, operation, platform)
    const { status, body, replayed } =
      idempotency === undefined
        ? await perform(operation, call)
        : await performOnce(operation, call, idempotency)
    ctx.status = status
    ctx.type = 'application/json; charset=utf-8'
    if (!ctx.response.get('Cache-Control')) ctx.set('Cache-Control', 'no-store')
    if (replayed) ctx.set('Idempotency-Replayed', 'true')
    ctx.body = body
  }
}

/** Operations check the type of their own input; here it is only handed on. */
type AnyCall = Omit<Call, 'params' | 'query' | 'body' | 'prepared'> & {
  readonly params: never
  readonly query: never
  readonly body: never
  readonly prepared: undefined
}

function toCall(ctx: RequestContext, platform: Platform): AnyCall {
  const { principal, params, query, body, bodyText, requestId, address } = ctx.state
  return {
    platform,
    principal: principal as Principal,
    params: params as never,
    query: query as never,
    body: body as never,
    bodyText,
    prepared: undefined,
    now: platform.clock.now(),
    requestId,
    ip: address,
    response: {
      setCookie: (value) => {
        ctx.append('Set-Cookie', value)
      },
    },
  }
}

async function perform(operation: Operation, call: AnyCall): Promise<Answer> {
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
async function prepareRun(
  operation: Extract<Operation, { effect: 'write' | 'publish' }>,
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
  operation: Extract<Operation, { effect: 'write' | 'publish' }>,
  call: AnyCall,
): Promise<(tx: StoreTx) => Promise<unknown>> {
  if (operation.effect === 'publish') return (tx) => operation.run({ ...call, tx })
  const prepared = await operation.prepare?.(call)
  return (tx) => operation.run({ ...call, tx, prepared })
}

function performOnce(operation: Operation, call: AnyCall, place: Idempotency): Promise<Answer> {
  return operation.effect === 'write' || operation.effect === 'publish'
    ? performInUnit(operation, call, place)
    : performClaimed(operation, call, place)
}

/** State, outbox and the answer itself commit together, so a crash leaves all of it or nothing. */
async function performInUnit(
  operation: Extract<Operation, { effect: 'write' | 'publish' }>,
  call: AnyCall,
  place: Idempotency,
): Promise<Answer> {
  const { store } = call.platform
  // A replay is answered before any work: what was judged then may be judged otherwise today.
  const replay = await recall(store.requests, call, place)
  if (replay !== undefined) return replay
  const run = await prepareRun(operation, call)
  return store.write(async (tx) => {
    const known = await recall(tx.requests, call, place)
    if (known !== undefined) return known
    const answered = firstAnswer(operation, await run(tx))
    await tx.requests.claimIdempotency({
      ...place,
      answer: { status: answered.status, body: withoutSecrets(operation, answered.body) },
      created_at: call.now,
      expires_at: call.now + REMEMBERED,
    })
    return answered
  })
}

async function performClaimed(
  operation: Operation,
  call: AnyCall,
  place: Idempotency,
): Promise<Answer> {
  const { store } = call.platform
  const known = await store.write(async (tx) => {
    const recalled = await recall(tx.requests, call, place)
    if (recalled !== undefined) return recalled
    await tx.requests.claimIdempotency({
      ...place,
      answer: null,
      created_at: call.now,
      expires_at: call.now + CLAIMED,
    })
    return undefined
  })
  if (known !== undefined) return known
  const answered = await perform(operation, call).catch(async (cause: unknown) => {
    await store.write((tx) => tx.requests.dropIdempotency(place.scope, place.key))
    throw cause
  })
  // Were this to fail the claim stays until it ends: what was done must not be done again at once.
  const kept = { status: answered.status, body: withoutSecrets(operation, answered.body) }
  await store.write((tx) =>
    tx.requests.answerIdempotency(place.scope, place.key, kept, call.now + REMEMBERED),
  )
  return answered
}

async function recall(
  requests: RequestReads,
  call: AnyCall,
  { scope, key, fingerprint }: Idempotency,
): Promise<Answer | undefined> {
  const known = await requests.idempotency(scope, key, call.now)
  if (known === undefined) return undefined
  if (known.fingerprint !== fingerprint) throw httpError('idempotency_mismatch')
  if (known.answer === null)
    throw httpError('idempotency_in_progress', { details: { retry_after: 1 } })
  return { ...known.answer, replayed: true }
}

function firstAnswer(operation: Operation, result: unknown): Answer {
  return { status: operation.status ?? 200, body: JSON.stringify(result), replayed: false }
}

/** What is shown once is shown once: a replay says null in its place. */
function withoutSecrets({ secret = [] }: Operation, body: string): string {
  if (secret.length === 0) return body
  const record = JSON.parse(body) as Record<string, unknown>
  for (const field of secret) record[field] = null
  return JSON.stringify(record)
}

/** What is public has no caller whose keys it could be, so there the header means nothing. */
function idempotencyOf(
  ctx: RequestContext,
  { method, access, effect }: Operation,
  { keyring }: Platform,
): Idempotency | undefined {
  const key = ctx.get('idempotency-key')
  // What only reads must read again: an answer that is kept would outlive a revocation.
  if (key === '' || method !== 'POST' || access === 'public' || effect === 'read') return undefined
  if (!KEY.test(key)) {
    throw httpError('invalid_request', {
      errors: [
        {
          location: 'header.Idempotency-Key',
          code: 'invalid_format',
          message: '1 to 255 printable characters.',
        },
      ],
    })
  }
  return {
    scope: `${ownerOf(ctx.state.principal)} ${ctx.method} ${ctx.path}`,
    key,
    fingerprint: keyring.mark(ctx.state.bodyText),
  }
}

/** Two values of one key are one caller: a retry after a rotation finds the first answer. */
function ownerOf(principal: Principal | undefined): string {
  if (principal === undefined) return 'public'
  const account = principal.account_id ?? ''
  if (principal.type === 'key') return `${account} key ${principal.key.id}`
  return principal.type === 'user' ? `${account} user ${principal.user_id}` : `${account} operator`
}
