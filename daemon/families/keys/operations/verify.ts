import type { z } from 'zod'
import { KeyhookError } from '../../../../lib/errors.ts'
import type { VerifiedKey } from '../../../../lib/engine/verifier.ts'
import { operation } from '../../../operations/operation.ts'
import type { Platform } from '../../../platform.ts'
import { isoOrNull } from '../../wire.ts'
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
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['keys'],
  errors: ['operator_required', 'invalid_scope'],
  unmetered: true,
} as const

const ONE = { key: 'service_dk_3fJ9kQ2x…', scope: 'orders:read' } as const

export const verifyKeys = operation({
  ...VERIFYING,
  id: 'keys.verify',
  summary: 'Verify keys: account, authority, and whether a scope or app is allowed',
  path: '/v1/keys/verify',
  input: { body: verifyBody },
  output: verifyAnswer,
  documented: { body: verifyInput, output: keyVerdict },
  example: { body: ONE, response: exampleVerdict },
  command: 'key verify',
  run: ({ platform, body }) =>
    'keys' in body ? judgeAll(platform, body) : judge(platform, body, 'body'),
})

export const verifyBatch = operation({
  ...VERIFYING,
  id: 'keys.verify_batch',
  summary: 'Verify up to 100 keys, with one verdict each',
  path: '/v1/keys/verify/batch',
  input: { body: verifyManyBody },
  output: verifyManyAnswer,
  example: { body: { keys: [ONE] }, response: { data: [exampleVerdict] } },
  run: ({ platform, body }) => judgeAll(platform, body),
})

async function judgeAll(
  platform: Platform,
  { keys }: z.output<typeof verifyManyBody>,
): Promise<z.input<typeof verifyManyAnswer>> {
  const verdicts = keys.map((one, index) => judge(platform, one, `body.keys[${index}]`))
  return { data: await Promise.all(verdicts) }
}

type VerifyInput = z.output<typeof verifyInput>
type Verdict = z.input<typeof keyVerdict>

/** An unknown outcome rejects the whole request: it must not look like a refusal of the key. */
async function judge(platform: Platform, one: VerifyInput, location: string): Promise<Verdict> {
  const { universe, verifier } = platform
  const scopes =
    one.scope === undefined ? [] : [requireDeclared(one.scope, universe, `${location}.scope`)]
  let known = NOBODY
  try {
    const verified = await verifier.verify(one.key)
    known = verdictFieldsOf(verified)
    requireNeed(verified, { scopes, app: one.app_id })
    return { valid: true, code: null, message: null, ...known }
  } catch (refusal) {
    const cause = explainInvalid(refusal, one.key)
    if (!(cause instanceof KeyhookError) || !VERDICTS.has(cause.code)) throw cause
    return { valid: false, code: cause.code, message: cause.message, ...known }
  }
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
  }
}
