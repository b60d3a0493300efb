import type { z } from 'zod'
import { KeyhookError, kernelError } from '../../../../lib/errors.ts'
import type { VerifiedKey } from '../../../../lib/engine/verifier.ts'
import { httpError } from '../../../operations/errors.ts'
import type { Principal } from '../../../authority/principal.ts'
import type { Call } from '../../../operations/call.ts'
import { operation } from '../../../operations/operation.ts'
import { isoOrNull } from '../../wire.ts'
import { cacheHolderOf } from './caches.ts'
import { explainInvalid, requireDeclared, requireNeed } from '../need.ts'
import {
  exampleVerdict,
  keyVerdict,
  verifyAnswer,
  verifyBody,
  verifyInput,
  verifyManyAnswer,
  verifyManyBody,
} from '../verify-schema.ts'

/** Common to one key and to several. */
const VERIFYING = {
  effect: 'read',
  method: 'POST',
  access: { scope: 'keys:read', pinned: 'refused', service: true },
  agent: { omit: 'Of a backend that other callers call with their keys.' },
  emits: ['keys'],
  errors: ['invalid_scope', 'operator_required'],
  unmetered: 'operator',
} as const

const ONE = { key: 'service_dk_3fJ9kQ2x…', scope: 'apps:read' } as const

export const verifyKeys = operation({
  ...VERIFYING,
  id: 'keys.verify',
  summary:
    'Verify keys, as a key those of its account: authority, and whether a scope or app is allowed',
  path: '/v1/keys/verify',
  input: { body: verifyBody },
  output: verifyAnswer,
  documented: { body: verifyInput, output: keyVerdict },
  example: { body: ONE, response: exampleVerdict },
  command: 'key verify',
  run: ({ body, ...call }) => ('keys' in body ? judgeAll(call, body) : judge(call, body, 'body')),
})

export const verifyBatch = operation({
  ...VERIFYING,
  id: 'keys.verify_batch',
  summary: 'Verify up to 100 keys, with one verdict each',
  path: '/v1/keys/verify/batch',
  input: { body: verifyManyBody },
  output: verifyManyAnswer,
  access: 'operator',
  example: { body: { keys: [ONE] }, response: { data: [exampleVerdict] } },
  run: ({ body, ...call }) => judgeAll(call, body),
})

type Asking = Pick<Call, 'platform' | 'principal'>

async function judgeAll(
  call: Asking,
  { keys }: z.output<typeof verifyManyBody>,
): Promise<z.input<typeof verifyManyAnswer>> {
  // Each value is a read of its own, and a request is counted as one.
  if (call.principal.type !== 'operator') throw httpError('operator_required')
  const verdicts = keys.map((one, index) => judge(call, one, `body.keys[${index}]`))
  return { data: await Promise.all(verdicts) }
}

type VerifyInput = z.output<typeof verifyInput>
type Verdict = z.input<typeof keyVerdict>

/** An unknown outcome rejects the whole request: it must not look like a refusal of the key. */
async function judge(call: Asking, one: VerifyInput, location: string): Promise<Verdict> {
  const { universe, verifier } = call.platform
  const scopes =
    one.scope === undefined ? [] : [requireDeclared(one.scope, universe, `${location}.scope`)]
  let known = NOBODY
  // Before the key is read: a change that overtakes the answer has a later position.
  const position = positionOf(call, one)
  try {
    const verified = await verifier.verify(one.key)
    requireOwn(call.principal, verified)
    known = verdictFieldsOf(verified)
    requireNeed(verified, { scopes, app: one.app_id })
    const cache = cacheableOf(call, verified, position)
    return { valid: true, code: null, message: null, ...known, cache }
  } catch (refusal) {
    const cause = explainInvalid(refusal, one.key)
    if (!(cause instanceof KeyhookError) || !VERDICTS.has(cause.code)) throw cause
    return { valid: false, code: cause.code, message: cause.message, ...known }
  }
}

/** A live key of another account is as unknown as one that never existed, to all but the operator. */
function requireOwn({ type, account_id }: Principal, { key }: VerifiedKey): void {
  if (type !== 'operator' && key.account_id !== account_id) throw kernelError('invalid_key')
}

function positionOf({ platform, principal }: Asking, { cache_id }: VerifyInput) {
  if (cache_id === undefined) return undefined
  return platform.keyCaches.position(cacheHolderOf(principal, cache_id))
}

/** Null also for a key of an account whose changes the cache does not learn of. */
function cacheableOf(
  { platform, principal }: Asking,
  { key, authority, secret_version, depends_on }: VerifiedKey,
  position: string | undefined,
): Verdict['cache'] {
  const isTold = principal.account_id === null || principal.account_id === key.account_id
  if (position === undefined || !isTold) return null
  const own = key.secrets.find(({ version }) => version === secret_version)
  const ends = [authority.expires_at, own?.not_after].flatMap((end) => end ?? [])
  const expires_in_ms =
    ends.length === 0 ? null : Math.max(0, Math.floor(Math.min(...ends) - platform.clock.now()))
  return { position, depends_on: [...depends_on], expires_in_ms }
}

/** Refusals of the key; any other error is about the request, or unknown. */
const VERDICTS: ReadonlySet<string> = new Set([
  'invalid_key',
  'key_expired',
  'key_revoked',
  'key_rotated',
  'account_suspended',
  'insufficient_scope',
  'app_not_found',
])

type VerdictFields = Omit<Verdict, 'valid' | 'code' | 'message'>

/** Verdict fields of an unknown value. */
const NOBODY: VerdictFields = {
  key_id: null,
  account_id: null,
  name: null,
  scopes: null,
  apps: null,
  expires_at: null,
  value: null,
  cache: null,
}

function verdictFieldsOf({ key, authority, secret }: VerifiedKey): VerdictFields {
  return {
    key_id: key.id,
    account_id: key.account_id,
    name: key.name,
    scopes: [...authority.scopes],
    apps: authority.pins === 'all' ? null : [...authority.pins].sort(),
    expires_at: isoOrNull(authority.expires_at),
    value: secret,
    cache: null,
  }
}
