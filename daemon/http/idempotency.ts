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
import { creatorOf } from '../authority/principal.ts'
import { writeBegun, writeInTurn } from '../queues/writes.ts'
import type { CallContext } from './call-context.ts'
import { LEASE, giveBack, keepClaim } from './claim.ts'
import { fingerprintParts } from './fingerprint-parts.ts'
import type { AnyCall, Answer, Answered, UnitOperation } from './perform.ts'
import type { PreparedUnit } from './perform.ts'
import { answerCommitted, firstAnswer, perform, prepareUnit } from './perform.ts'

/** How long an `Idempotency-Key` is kept. */
const REMEMBERED = 24 * HOUR
const KEY = /^[\x21-\x7e]{1,255}$/

/** Idempotency record that a request uses. */
export interface Idempotency {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
}

/**
 * Runs an operation once per key.
 *
 * The response is stored in the same unit of work as the effect: a concurrent duplicate waits for it and
 * gets the same response. An effect that cannot be rolled back claims its key first, and a duplicate is
 * refused while it runs.
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

/** State, outbox and response commit together, so a crash leaves all of them or none. */
async function performInUnit(
  operation: UnitOperation,
  call: AnyCall,
  place: Idempotency,
): Promise<Answer> {
  const { store } = call.platform
  // Replayed before any work: the same request might be refused today.
  const replay = await recall(store.requests, call, place)
  // The process that committed first may have died before other processes learned of the change. An
  // empty unit ends once they did.
  if (replay !== undefined) return writeInTurn(call, () => Promise.resolve(replay))
  let unit: PreparedUnit
  try {
    unit = await prepareUnit(operation, unlessAnswered(call, place))
  } catch (cause) {
    // Preparing may wait. A duplicate that committed meanwhile may be the reason for the refusal.
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

/** A call whose queued work does not begin once a duplicate was answered. */
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

/** Never a response: `performInUnit` responds as to the duplicate. */
class DuplicateAnswered extends Error {
  override readonly name = 'TwinAnswered'
}

/** The stored response of this request; undefined when there is none. */
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
    // The unit may have waited: the lease starts now.
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
    // The effect must not be repeated at once: its claim stays until it expires.
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

/** Adds the fingerprinted content to a call; that of a streamed body is known once all of it was read. */
function withFingerprint(call: AnyCall): { hashed: AnyCall; content: () => Promise<string> } {
  if (call.parts === undefined) return { hashed: call, content: async () => call.bodyText }
  const { parts, fingerprint } = fingerprintParts(call.parts)
  return { hashed: { ...call, parts }, content: fingerprint }
}

/** @throws KeyhookError when the stored request had other content, or has no response yet */
function replay({ platform }: AnyCall, known: IdempotencyRecord, content: string): Answer {
  if (!platform.keyring.matches(content, known.fingerprint)) {
    throw httpError('idempotency_mismatch')
  }
  if (known.answer === null)
    throw httpError('idempotency_in_progress', { details: { retry_after: 1 } })
  return { ...known.answer, replayed: true }
}

/** A response as it is stored. */
function toKept(operation: Answered, { status, body }: Answer): AnsweredRequest['answer'] {
  return { status, body: withoutSecrets(operation, body) }
}

/** A secret is shown once: a replay has null instead. */
function withoutSecrets({ secret = [] }: Answered, body: string): string {
  if (secret.length === 0) return body
  const record = JSON.parse(body) as Record<string, unknown>
  for (const field of secret) record[field] = null
  return JSON.stringify(record)
}

/** A public operation has no caller with keys of its own, so it ignores the header. */
export function idempotencyOf(
  ctx: CallContext,
  { method, access, effect, idempotency }: Answered,
  { keyring }: Platform,
): Idempotency | undefined {
  const key = ctx.get('idempotency-key')
  if (key === '' && idempotency === 'required') throw httpError('idempotency_key_required')
  // A read must be repeated: a stored response would outlive a revocation.
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

/** Two values of one key are one caller: a retry after a rotation finds the first response. */
function ownerOf(principal: Principal | undefined): string {
  if (principal === undefined) return 'public'
  const { type, id } = creatorOf(principal)
  return [principal.account_id ?? '', type, ...(id === null ? [] : [id])].join(' ')
}
