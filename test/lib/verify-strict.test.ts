import t from 'tap'
import { serializeEvent } from '../../lib/webhook/event.ts'
import { signatureHeader, standardSignature } from '../../lib/webhook/sign.ts'
import type { VerificationErrorCode, WebhookHeaders } from '../../lib/webhook/verify.ts'
import { WebhookVerificationError, verifyWebhook } from '../../lib/webhook/verify.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const NOW = 1_700_000_000
const AT = { now: NOW * 1000 }
const BODY = serializeEvent({
  id: 'evt_1',
  type: 'order.paid',
  created_at: NOW * 1000,
  data: { total: 1 },
})
const OWN = signatureHeader(NOW, BODY, [SECRET])
const [, HEX = ''] = OWN.split('v1=')
const STANDARD = standardSignature('evt_1', NOW, BODY, [SECRET])

const standardHeaders = (signature: string): WebhookHeaders => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': String(NOW),
  'webhook-signature': signature,
})

/** One form for each value: whatever could be read as the right signature, and is not written so. */
await t.test('what is nearly the right signature is refused', async (t) => {
  const rows: readonly (readonly [string, WebhookHeaders, VerificationErrorCode])[] = [
    ['a digit too many', { 'service-signature': `${OWN}0` }, 'signature_mismatch'],
    ['one before it', { 'service-signature': `t=${NOW},v1=z${HEX}0` }, 'signature_mismatch'],
    ['a sign before the scheme', standardHeaders(`!${STANDARD}`), 'header_malformed'],
    ['a sign before the value', standardHeaders(`v1,!${STANDARD.slice(4)}`), 'signature_mismatch'],
    ['no padding', standardHeaders(STANDARD.replace('=', '')), 'signature_mismatch'],
    ['a letter too many', standardHeaders('v1,AAAAA'), 'signature_mismatch'],
  ]
  for (const [name, headers, code] of rows) {
    await t.rejects(verifyWebhook(BODY, headers, SECRET, AT), { code }, name)
  }
})

await t.test('headers are read from any object that bears them', async (t) => {
  const headers = { get: 'no function', 'Service-Signature': OWN }
  t.match(await verifyWebhook(BODY, headers, SECRET, AT), { id: 'evt_1' })
  const asFetch = { get: (name: string) => (name === 'Service-Signature' ? OWN : undefined) }
  t.match(await verifyWebhook(BODY, asFetch, SECRET, AT), { deliveryId: undefined })
  const unset = { 'service-signature': undefined, 'Service-Signature': OWN }
  t.match(await verifyWebhook(BODY, unset, SECRET, AT), { id: 'evt_1' })
})

await t.test('the name of the delivery follows from that of the signature', async (t) => {
  const name = 'Acme-Signature-Two'
  const headers = { [name]: OWN, 'X-Acme-Signature-Two-Delivery-ID': 'dlv_1' }
  const verified = await verifyWebhook(BODY, headers, SECRET, { ...AT, signatureHeader: name })
  t.equal(verified.deliveryId, 'dlv_1')
})

await t.test('what is verified is what was given, whoever writes to it meanwhile', async (t) => {
  for (const whole of [false, true]) {
    const given = new ArrayBuffer(BODY.length)
    const bytes = new Uint8Array(given)
    bytes.set(BODY)
    const headers = { 'service-signature': OWN }
    const verifying = verifyWebhook(whole ? given : bytes, headers, SECRET, AT)
    bytes.fill(0)
    t.match(await verifying, { id: 'evt_1', data: { total: 1 } })
  }
})

await t.test('an error says what is wrong, its cause included', async (t) => {
  const text = Buffer.from('no event')
  const headers = { 'service-signature': signatureHeader(NOW, text, [SECRET]) }
  const failed = await verifyWebhook(text, headers, SECRET, AT).catch((error: unknown) => error)
  t.match(failed, { name: 'WebhookVerificationError', cause: { name: 'SyntaxError' } })

  const texts: Readonly<Record<VerificationErrorCode, RegExp>> = {
    body_not_raw: /raw request body/,
    secret_malformed: /whsec_/,
    header_missing: /no webhook signature/,
    header_malformed: /malformed/,
    too_many_signatures: /16 signatures/,
    timestamp_outside_tolerance: /clock/,
    signature_mismatch: /No signature matches/,
    body_malformed: /not an event/,
  }
  for (const [code, message] of Object.entries(texts)) {
    t.match(new WebhookVerificationError(code as VerificationErrorCode), { message })
  }
})

await t.test('a missing signature names the header, and another that it may be in', async (t) => {
  const refusalOf = async (headers: unknown, options: object = AT): Promise<string> => {
    const verifying = verifyWebhook(BODY, headers as Record<string, string>, SECRET, options)
    const refusal: unknown = await verifying.catch((error: unknown) => error)
    t.match(refusal, { name: 'WebhookVerificationError', code: 'header_missing' })
    return refusal instanceof Error ? refusal.message : ''
  }
  const none = 'The request carries no webhook signature: it has no Service-Signature header'
  const shop =
    `${none}, but shop-signature. ` +
    "If that is the sender's, pass { signatureHeader: 'shop-signature' }."
  t.equal(await refusalOf({}), `${none}.`)
  t.equal(await refusalOf({ 'shop-signature': OWN }), shop)
  t.equal(await refusalOf(new Headers({ 'Shop-Signature': OWN })), shop)
  t.match(
    await refusalOf({}, { ...AT, signatureHeader: 'Shop-Signature' }),
    /no Shop-Signature header\.$/,
  )
  t.match(
    await refusalOf({ 'service-signature': OWN }, { ...AT, signatureHeader: 'Shop-Signature' }),
    "pass { signatureHeader: 'service-signature' }",
  )
  for (const name of [
    'webhook-signature',
    'x-hub-signature',
    `${'x'.repeat(32)}-signature`,
    "a'b-signature",
    'shop-signature\n',
  ]) {
    t.equal(await refusalOf({ [name]: 'a value' }), `${none}.`, `${name} is no brand's`)
  }
  t.equal(await refusalOf(new Map([['shop-signature', OWN]])), `${none}.`, 'cannot be listed')
})
