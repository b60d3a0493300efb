import { createHmac } from 'node:crypto'
import { secretBytes } from './secret.ts'

/**
 * The value of the `Service-Signature` header: `t=<seconds>,v1=<hex>`, with one `v1` per live secret.
 *
 * Each signature is the HMAC-SHA256 of `{t}.{raw body bytes}`, keyed with the whole `whsec_` string.
 *
 * @param timestampSeconds Unix time of the attempt, not of the event, in whole seconds
 * @throws TypeError for a timestamp that is not a whole number of seconds, and without a secret
 * @example
 * signatureHeader(1700000000, new TextEncoder().encode('{}'), ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])
 * // 't=1700000000,v1=…64 hex digits…'
 */
export function signatureHeader(
  timestampSeconds: number,
  body: Uint8Array,
  secrets: readonly string[],
): string {
  refuseMisuse(timestampSeconds, secrets)
  const prefix = `${timestampSeconds}.`
  let header = `t=${timestampSeconds}`
  for (const secret of secrets) {
    header += `,v1=${createHmac('sha256', secret).update(prefix).update(body).digest('hex')}`
  }
  return header
}

/**
 * The value of the `webhook-signature` header of Standard Webhooks: `v1,<base64>` per live secret,
 * separated by spaces.
 *
 * Each signature is the HMAC-SHA256 of `{id}.{t}.{raw body bytes}`, keyed with the decoded bytes of the
 * secret.
 *
 * @param id the value of `webhook-id`
 * @param timestampSeconds the value of `webhook-timestamp`, Unix time in whole seconds
 * @throws TypeError for a malformed secret, for an id with a dot (the signed text would be ambiguous),
 *   for a timestamp that is not a whole number of seconds, and without a secret
 * @example
 * standardSignature('evt_1', 1700000000, body, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])
 * // 'v1,…44 base64 characters…'
 */
export function standardSignature(
  id: string,
  timestampSeconds: number,
  body: Uint8Array,
  secrets: readonly string[],
): string {
  refuseMisuse(timestampSeconds, secrets)
  if (id === '' || id.includes('.')) {
    throw new TypeError('the signed id must be non-empty and contain no dot')
  }
  const prefix = `${id}.${timestampSeconds}.`
  let header = ''
  for (const secret of secrets) {
    const mac = createHmac('sha256', secretBytes(secret)).update(prefix).update(body)
    header += `${header === '' ? '' : ' '}v1,${mac.digest('base64')}`
  }
  return header
}

function refuseMisuse(timestampSeconds: number, secrets: readonly string[]): void {
  if (!Number.isSafeInteger(timestampSeconds) || timestampSeconds < 0) {
    throw new TypeError('the timestamp must be Unix time in whole seconds')
  }
  if (secrets.length === 0) throw new TypeError('at least one secret must sign')
}
