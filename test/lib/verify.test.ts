import { readFileSync } from 'node:fs'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { toBase64, utf8 } from '../../lib/internal/bytes.ts'
import { serializeEvent } from '../../lib/webhook/event.ts'
import { brandNames, deliveryHeaders } from '../../lib/webhook/headers.ts'
import { signatureHeader, standardSignature } from '../../lib/webhook/sign.ts'
import type { VerifiedWebhook, WebhookHeaders } from '../../lib/webhook/verify.ts'
import { verifyWebhook, WebhookVerificationError } from '../../lib/webhook/verify.ts'

interface Vector {
  readonly case: string
  readonly name: string
  readonly form: 'service' | 'standard'
  readonly secret: string | readonly string[]
  readonly id?: string | null
  readonly timestamp: string | null
  readonly now: number
  readonly body?: string
  readonly body_base64?: string
  readonly header: string | readonly string[] | null
  readonly valid: boolean
  readonly signers?: readonly string[]
  readonly event?: false
  readonly reason?: string
}

const vectorsFile = new URL('../vectors/signature.json', import.meta.url)
const { vectors } = JSON.parse(readFileSync(vectorsFile, 'utf8')) as { vectors: readonly Vector[] }

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

const bodyOf = (vector: Vector): Uint8Array =>
  vector.body === undefined
    ? Uint8Array.from(Buffer.from(vector.body_base64 ?? '', 'base64'))
    : utf8(vector.body)

function headersOf(vector: Vector): WebhookHeaders {
  const header = vector.header ?? undefined
  if (vector.form === 'service') return { 'Service-Signature': header }
  return {
    'webhook-id': vector.id ?? undefined,
    'webhook-timestamp': vector.timestamp ?? undefined,
    'webhook-signature': header,
  }
}

await t.test('frozen signature vectors', async (t) => {
  for (const vector of vectors) {
    await t.test(`${vector.case} (${vector.form}): ${vector.name}`, async (t) => {
      const body = bodyOf(vector)
      const verdict = await verdictAt(body, headersOf(vector), vector.secret, vector.now)
      const isRefused = !vector.valid || vector.event === false
      if (isRefused) t.equal(verdict, vector.reason)
      else t.equal(verdict, (JSON.parse(new TextDecoder().decode(body)) as { type: string }).type)
      if (vector.signers === undefined) return
      const timestamp = Number(vector.timestamp)
      const header =
        vector.form === 'service'
          ? signatureHeader(timestamp, body, vector.signers)
          : standardSignature(vector.id ?? '', timestamp, body, vector.signers)
      t.equal(header, vector.header, 'signing reproduces the header')
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
  await t.test('takes the tolerance that is asked for, and NaN tolerates nothing', async (t) => {
    const at = (tolerance: number, now: number) =>
      verdictOf(verifyWebhook(BODY, own(BODY, SECRET), SECRET, { tolerance, now }))
    t.equal(await at(5, CREATED_AT + 5999), 'edit.completed')
    t.equal(await at(5, CREATED_AT + 6000), 'timestamp_outside_tolerance')
    t.equal(await at(NaN, CREATED_AT), 'timestamp_outside_tolerance')
    t.equal(await at(5, NaN), 'timestamp_outside_tolerance')
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
  await t.test('V16: refuses one header under two spellings', async (t) => {
    const value = signatureHeader(NOW, BODY, [SECRET])
    const headers = { 'Service-Signature': value, 'service-signature': value }
    t.equal(await verdictAt(BODY, headers), 'header_malformed')
  })
  await t.test('V17: refuses a secret that is empty, short, long, cut or broken', async (t) => {
    const short = `whsec_${toBase64(new Uint8Array(23))}`
    const long = `whsec_${toBase64(new Uint8Array(65))}`
    const broken = ['', 'whsec_', 'whsec_AAAAAAAAAAA=', `${SECRET}\n`, SECRET.slice(6), short, long]
    const unusedBits = `whsec_${'/'.repeat(42)}9=`
    const cut = SECRET.slice(0, -1)
    for (const secret of [...broken, cut, `${cut}-`, unusedBits, []]) {
      t.equal(await verdictAt(BODY, own(BODY, SECRET), secret), 'secret_malformed')
    }
    t.equal(await verdictAt(BODY, own(BODY, SECRET), [SECRET, '']), 'secret_malformed')
  })
  await t.test('V18, V19: judges raw bytes, whatever carries them, up to 10 MiB', async (t) => {
    const padding = ' '.repeat(10 * 1024 * 1024)
    for (const body of [BODY, utf8(`${padding}${new TextDecoder().decode(BODY)}`)]) {
      const headers = own(body, SECRET)
      const inLarger = Buffer.concat([Buffer.from('x'), body, Buffer.from('x')]).subarray(1, -1)
      const exact = Uint8Array.from(body).buffer
      for (const carrier of [body, inLarger, exact, new TextDecoder().decode(body)]) {
        t.equal(await verdictAt(carrier, headers), 'edit.completed')
      }
    }
  })
  await t.test('V20: refuses a parsed body and says what to pass', async (t) => {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(BODY))
    for (const body of [parsed, undefined, null, 7]) {
      const answer = verifyWebhook(body as string, own(BODY, SECRET), SECRET)
      await t.rejects(answer, { code: 'body_not_raw', message: /raw request body/ })
    }
  })
  await t.test('refuses headers that are none, or hold what is no text', async (t) => {
    for (const headers of [undefined, null, 'x', {}]) {
      t.equal(await verdictAt(BODY, headers as WebhookHeaders), 'header_missing')
    }
    const numeric: unknown = { 'service-signature': 7 }
    t.equal(await verdictAt(BODY, numeric as WebhookHeaders), 'header_malformed')
  })
  await t.test(
    'V22: gives a repeated delivery the same id, by which the receiver drops it',
    async (t) => {
      const verify = () => verifyWebhook(BODY, own(BODY, SECRET), SECRET, { now: CREATED_AT })
      t.equal((await verify()).id, (await verify()).id)
    },
  )
  await t.test('V23: finds headers in any case and in every usual object', async (t) => {
    const value = signatureHeader(NOW, BODY, [SECRET])
    const request = new IncomingMessage(new Socket())
    request.headers['service-signature'] = value
    const carriers: readonly WebhookHeaders[] = [
      new Headers({ 'SERVICE-signature': value }),
      new Map([['Service-Signature', value]]),
      request.headers,
      { 'SERVICE-SIGNATURE': [value] },
      { 'Service-Signature': value },
    ]
    for (const headers of carriers) t.equal(await verdictAt(BODY, headers), 'edit.completed')
  })
  await t.test('V24: keys named like prototypes change no prototype', async (t) => {
    const data = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    const body = serializeEvent({ id: 'evt_1', type: 'a.b', created_at: CREATED_AT, data })
    const event = await verifyWebhook(body, own(body, SECRET), SECRET, { now: CREATED_AT })
    t.equal(Object.getPrototypeOf(event.data), Object.prototype)
    t.equal(Object.getPrototypeOf(event), Object.prototype)
    t.notOk('polluted' in {})
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
