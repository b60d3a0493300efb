import { HOUR } from '../../lib/time.ts'
import type {
  AnsweredRequest,
  IdempotencyRecord,
  RequestReads,
} from '../../plugins/store/contract/requests.ts'
import type { PlatformTx } from '../../plugins/platform/contract.ts'
import { httpError } from '../operations/errors.ts'
import type { Platform } from '../platform.ts'
import type { Principal } from '../authority/principal.ts'
import { writeBegun, writeInTurn } from '../queues/writes.ts'
import { LEASE, giveBack, keepClaim } from './claim.ts'
import { fingerprintParts } from './fingerprint-parts.ts'
import type { AnyCall, Answer, Answered, UnitOperation } from './perform.ts'
import type { PreparedUnit } from './perform.ts'
import { answerCommitted, firstAnswer, perform, prepareUnit } from './perform.ts'
import type { RequestContext } from './state.ts'

/** How long an `Idempotency-Key` is remembered. */
const REMEMBERED = 24 * HOUR
const KEY = /^[\x21-\x7e]{1,255}$/

/** The place of a request among those that bear the same key. */
export interface Idempotency {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
}

/**
 * Runs an operation once under its key.
 *
 * The answer is stored in the same unit of work as the effect: a concurrent twin waits for it and gets
 * the same. What cannot be rolled back claims its key first, and a twin is refused while it runs.
 */
export function performOnce(
  operation: Answered,
  call: AnyCall,
  slot: Idempotency,
): Promise<Answer> {
  return operation.effect === 'write' || operation.effect === 'publish'
    ? performInUnit(operation, call, slot)
    : performClaimed(operation, call, slot)
}

/** State, outbox and the answer itself commit together, so a crash leaves all of it or nothing. */
async function performInUnit(
  operation: UnitOperation,
  call: AnyCall,
  place: Idempotency,
): Promise<Answer> {
  const { store } = call.platform
  // Answered before any work: the same request might be refused today.
  const replay = await recall(store.requests, call, place)
  // The process that answered first may have died before the others knew of the change. An empty unit
  // ends once they do.
  if (replay !== undefined) return writeInTurn(call, () => Promise.resolve(replay))
  let unit: PreparedUnit
  try {
    unit = await prepareUnit(operation, unlessAnswered(call, place))
  } catch (cause) {
    // Preparing may wait. A twin that committed meanwhile may be the reason for the refusal.
    const duplicate = await recall(store.requests, call, place)
    if (duplicate === undefined) throw cause
    return writeInTurn(call, () => Promise.resolve(duplicate))
  }
  let committed: unknown
  const work = async (tx: PlatformTx): Promise<Answer> => {
    const known = await recall(tx.requests, call, place)
    if (known !== undefined) return known
    committed = await unit.run(tx)
    const answered = firstAnswer(operation, committed)
    await tx.requests.claimIdempotency({
      ...place,
      answer: toKept(operation, answered),
      created_at: call.now,
      expires_at: call.now + REMEMBERED,
    })
    return answered
  }
  const answer = await unit.commit(() => writeInTurn(call, work))
  return answer.replayed ? answer : answerCommitted(operation, call, committed)
}

/** A call whose work, where it waits for its turn, is not begun once a twin of it was answered. */
function unlessAnswered(call: AnyCall, slot: Idempotency): AnyCall {
  return {
    ...call,
    waiting() {
      const { signal, begin } = call.waiting()
      return {
        signal,
        async begin() {
          await begin()
          const { store } = call.platform
          if ((await recall(store.requests, call, slot)) !== undefined)
            throw new DuplicateAnswered()
        },
      }
    },
  }
}

/** Never answered: `performInUnit` answers what the twin was answered. */
class DuplicateAnswered extends Error {
  override readonly name = 'TwinAnswered'
}

/** The answer to a twin of this request; undefined when there was none. */
async function recall(
  requests: RequestReads,
  call: AnyCall,
  { scope, key }: Idempotency,
): Promise<Answer | undefined> {
  const known = await requests.idempotency(scope, key, call.now)
  return known && replay(call, known, call.bodyText)
}

async function performClaimed(
  operation: Answered,
  call: AnyCall,
  place: Idempotency,
): Promise<Answer> {
  const { keyring, clock } = call.platform
  const { hashed, content } = withFingerprint(call)
  const { known, created_at } = await writeInTurn(call, async ({ requests }) => {
    // The unit may have waited: the lease begins now.
    const created_at = clock.now()
    const known = await requests.idempotency(place.scope, place.key, created_at)
    if (known === undefined) {
      const expires_at = created_at + LEASE
      await requests.claimIdempotency({ ...place, answer: null, created_at, expires_at })
    }
    return { known, created_at }
  })
  if (known !== undefined) {
    return replay(call, known, known.answer === null ? call.bodyText : await content())
  }
  const claim = { ...place, created_at }
  const endClaim = keepClaim(call, claim)
  let answered: Answer | undefined
  let fingerprint: string
  try {
    answered = await perform(operation, hashed)
    fingerprint = keyring.fingerprint(await content())
  } catch (cause) {
    await endClaim()
    // What was done is not repeated at once: its claim stays until it expires.
    if (answered === undefined) await giveBack(call, claim)
    throw cause
  }
  await endClaim()
  const answer = toKept(operation, answered)
  const expires_at = call.now + REMEMBERED
  await writeBegun(call, (tx) =>
    tx.requests.answerIdempotency({ ...place, fingerprint, answer, expires_at }),
  )
  return answered
}

/** A call whose body, where it is taken in as it comes, can be told from others' once all of it was. */
function withFingerprint(call: AnyCall): { hashed: AnyCall; content: () => Promise<string> } {
  if (call.parts === undefined) return { hashed: call, content: async () => call.bodyText }
  const { parts, fingerprint } = fingerprintParts(call.parts)
  return { hashed: { ...call, parts }, content: fingerprint }
}

/** @throws KeyhookError when it was content for something else, or is not answered yet */
function replay({ platform }: AnyCall, known: IdempotencyRecord, content: string): Answer {
  if (!platform.keyring.matches(content, known.fingerprint)) {
    throw httpError('idempotency_mismatch')
  }
  if (known.answer === null)
    throw httpError('idempotency_in_progress', { details: { retry_after: 1 } })
  return { ...known.answer, replayed: true }
}

/** An answer as it is kept. */
function toKept(operation: Answered, { status, body }: Answer): AnsweredRequest['answer'] {
  return { status, body: withoutSecrets(operation, body) }
}

/** What is shown once is shown once: a replay says null in its place. */
function withoutSecrets({ secret = [] }: Answered, body: string): string {
  if (secret.length === 0) return body
  const record = JSON.parse(body) as Record<string, unknown>
  for (const field of secret) record[field] = null
  return JSON.stringify(record)
}

/** What is public has no caller whose keys it could be, so there the header means nothing. */
export function idempotencyOf(
  ctx: RequestContext,
  { method, access, effect }: Answered,
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
    fingerprint: keyring.fingerprint(ctx.state.bodyText),
  }
}

/** Two values of one key are one caller: a retry after a rotation finds the first answer. */
function ownerOf(principal: Principal | undefined): string {
  if (principal === undefined) return 'public'
  const account = principal.account_id ?? ''
  if (principal.type === 'key') return `${account} key ${principal.key.id}`
  return principal.type === 'user' ? `${account} user ${principal.user_id}` : `${account} operator`
}
