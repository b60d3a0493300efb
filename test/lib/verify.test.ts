import fc from 'fast-check'
import t from 'tap'
import { toBase64, utf8 } from '../../lib/internal/bytes.ts'
import { serializeEvent } from '../../lib/webhook/event.ts'
import { brandNames, deliveryHeaders } from '../../lib/webhook/headers.ts'
import { signatureHeader, standardSignature } from '../../lib/webhook/sign.ts'
import type { VerifiedWebhook, WebhookHeaders } from '../../lib/webhook/verify.ts'
import { verifyWebhook, WebhookVerificationError } from '../../lib/webhook/verify.ts'
import type { SignatureCase } from '../vectors/signature.ts'
import { SIGNATURE_CASES } from '../vectors/signature.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const NOW = 1_700_000_000
const CREATED_AT = NOW * 1000
const BODY = serializeEvent({
  id: 'evt_1',
  type: 'edit.completed',
  created_at: CREATED_AT,
  data: { app_id: 'app_1' },
})

const anySecret = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((b) => `whsec_${toBase64(b)}`)
const anyData = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 })
const anyBody = anyData.map((data) =>
  serializeEvent({ id: 'evt_1', type: 'order.paid', created_at: CREATED_AT, data }),
)

const own = (body: Uint8Array, ...secrets: readonly string[]): WebhookHeaders => ({
  'service-signature': signatureHeader(NOW, body, secrets),
})
const standard = (body: Uint8Array, ...secrets: readonly string[]): WebhookHeaders => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': String(NOW),
  'webhook-signature': standardSignature('evt_1', NOW, body, secrets),
})
const FORMS = [own, standard]

/** The event's type, or the code of the refusal; any other error is passed on. */
async function verdictOf(answer: Promise<VerifiedWebhook>): Promise<string> {
  try {
    return (await answer).type
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.code
    throw error
  }
}

const verdictAt = async (
  body: Uint8Array | ArrayBuffer | string,
  headers: WebhookHeaders,
  secret: string | readonly string[] = SECRET,
  now: number = NOW,
): Promise<string> => verdictOf(verifyWebhook(body, headers, secret, { now: now * 1000 }))

/** What the case's signers would have sent, under the names and with the values of its headers. */
function headersBy(signers: readonly string[], { form, headers, body }: SignatureCase): unknown {
  if (form === 'service') {
    const [, timestamp] = /^t=(\d+)/.exec(String(headers['Service-Signature'])) ?? []
    return { 'Service-Signature': signatureHeader(Number(timestamp), body, signers) }
  }
  const [id, timestamp] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])]
  return { ...headers, 'webhook-signature': standardSignature(id, timestamp, body, signers) }
}

await t.test('published signature vectors', async (t) => {
  for (const published of SIGNATURE_CASES) {
    const { id, description, body, headers, secrets, now, valid, reason, event } = published
    await t.test(`${id}: ${description}`, async (t) => {
      const verdict = await verdictAt(body, headers, secrets, now)
      if (!valid) t.equal(verdict, reason)
      else if (event === false) t.equal(verdict, 'body_malformed')
      else t.equal(verdict, (JSON.parse(new TextDecoder().decode(body)) as { type: string }).type)
      if (published.signed_by === undefined) return
      t.strictSame(headersBy(published.signed_by, published), headers, 'signing gives the headers')
    })
  }
})

await t.test('verifyWebhook', async (t) => {
  await t.test('gives the event, when it was signed, and the delivery for the logs', async (t) => {
    const headers = { ...own(BODY, SECRET), 'x-service-delivery-id': 'dlv_1' }
    t.strictSame(await verifyWebhook(BODY, headers, SECRET, { now: CREATED_AT }), {
      id: 'evt_1',
      type: 'edit.completed',
      created_at: '2023-11-14T22:13:20.000Z',
      data: { app_id: 'app_1' },
      timestamp: NOW,
      deliveryId: 'dlv_1',
    })
  })
  await t.test('reads the clock when no time is given', async (t) => {
    t.equal(
      await verdictOf(verifyWebhook(BODY, own(BODY, SECRET), SECRET)),
      'timestamp_outside_tolerance',
    )
    const seconds = Math.floor(Date.now() / 1000)
    const headers = { 'Service-Signature': signatureHeader(seconds, BODY, [SECRET]) }
    t.equal(await verdictOf(verifyWebhook(BODY, headers, SECRET)), 'edit.completed')
  })
  await t.test('takes the tolerance that is asked for, and refuses NaN', async (t) => {
    const at = (tolerance: number, now: number) =>
      verdictOf(verifyWebhook(BODY, own(BODY, SECRET), SECRET, { tolerance, now }))
    t.equal(await at(5, CREATED_AT + 5999), 'edit.completed')
    t.equal(await at(5, CREATED_AT + 6000), 'timestamp_outside_tolerance')
    await t.rejects(
      at(NaN, CREATED_AT),
      new TypeError('verifyWebhook: options.tolerance must be seconds, 0 or more'),
    )
    await t.rejects(
      at(5, NaN),
      new TypeError('verifyWebhook: options.now must be epoch milliseconds'),
    )
  })
  await t.test(
    'takes the header of another brand, and the delivery header beside it',
    async (t) => {
      const acme = brandNames('acme')
      const attempt = { eventType: 'a.b', eventId: 'evt_1', deliveryId: 'dlv_9', custom: {} }
      const headers = deliveryHeaders(acme, {
        ...attempt,
        timestampSeconds: NOW,
        body: BODY,
        secrets: [SECRET],
        standardHeaders: false,
      })
      t.equal(await verdictAt(BODY, headers), 'header_missing')
      const options = { now: CREATED_AT, signatureHeader: 'acme-signature' }
      t.equal((await verifyWebhook(BODY, headers, SECRET, options)).deliveryId, 'dlv_9')
    },
  )
  await t.test('does not fall back to the standard form when the own one fails', async (t) => {
    const headers = { ...standard(BODY, SECRET), 'service-signature': `t=${NOW},v1=00` }
    t.equal(await verdictAt(BODY, headers), 'signature_mismatch')
  })
  await t.test('refuses headers that are none, or hold what is no text', async (t) => {
    for (const headers of [undefined, null, 'x', {}]) {
      t.equal(await verdictAt(BODY, headers as WebhookHeaders), 'header_missing')
    }
    const numeric: unknown = { 'service-signature': 7 }
    t.equal(await verdictAt(BODY, numeric as WebhookHeaders), 'header_malformed')
  })
  await t.test('refuses a signed body that is JSON and no event', async (t) => {
    const event = { id: 'evt_1', type: 'a.b', created_at: 'now', data: {} }
    const variants = [null, [], 'x', ...Object.keys(event).map((key) => ({ ...event, [key]: 7 }))]
    for (const value of [...variants, { ...event, data: [] }, { ...event, data: null }]) {
      const body = utf8(JSON.stringify(value))
      t.equal(await verdictAt(body, own(body, SECRET)), 'body_malformed')
    }
  })
})

await t.test('laws of signatures, in both forms', async (t) => {
  await t.test('what is signed verifies, with any one of the live secrets', async () => {
    const anySecrets = fc.array(anySecret, { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(anyBody, anySecrets, fc.nat(), async (body, secrets, pick) => {
        const known = secrets[pick % secrets.length] ?? ''
        const verdicts = FORMS.map((form) => verdictAt(body, form(body, ...secrets), known))
        return (await Promise.all(verdicts)).every((verdict) => verdict === 'order.paid')
      }),
    )
  })
  await t.test('any one changed byte fails', async () => {
    const anyChange = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }))
    await fc.assert(
      fc.asyncProperty(anyBody, anySecret, anyChange, async (body, secret, [at, mask]) => {
        const changed = body.map((byte, i) => (i === at % body.length ? byte ^ mask : byte))
        const verdicts = FORMS.map((form) => verdictAt(changed, form(body, secret), secret))
        return (await Promise.all(verdicts)).every((verdict) => verdict === 'signature_mismatch')
      }),
    )
  })
  await t.test('any other secret fails', async () => {
    await fc.assert(
      fc.asyncProperty(anyBody, anySecret, anySecret, async (body, signer, known) => {
        fc.pre(signer !== known)
        const verdicts = FORMS.map((form) => verdictAt(body, form(body, signer), known))
        return (await Promise.all(verdicts)).every((verdict) => verdict === 'signature_mismatch')
      }),
    )
  })
  await t.test('whatever the headers hold, only a verification error is thrown', async () => {
    const anyValue = fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined))
    const anyName = fc.constantFrom(
      'service-signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    )
    await fc.assert(
      fc.asyncProperty(fc.dictionary(anyName, anyValue), async (headers) => {
        const verdict = await verdictAt(BODY, headers)
        return verdict.startsWith('header_') || verdict === 'too_many_signatures'
      }),
    )
  })
})
