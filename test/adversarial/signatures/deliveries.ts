import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { toBase64, utf8 } from '../../../lib/internal/bytes.ts'
import { serializeEvent } from '../../../lib/webhook/event.ts'
import { signatureHeader } from '../../../lib/webhook/sign.ts'
import type { WebhookHeaders } from '../../../lib/webhook/verify.ts'
import { verifyWebhook } from '../../../lib/webhook/verify.ts'
import type { Checks, Saw } from '../run.ts'
import { published } from './published.ts'
import type { Received } from './verdict.ts'
import { verdictOf } from './verdict.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const NOW = 1_700_000_000
const EVENT = { id: 'evt_1', type: 'edit.completed', created_at: NOW * 1000 }
const BODY = serializeEvent({ ...EVENT, data: { app_id: 'app_1' } })

function signed(body: Uint8Array = BODY): Received & { readonly headers: Record<string, string> } {
  const headers = { 'Service-Signature': signatureHeader(NOW, body, [SECRET]) }
  return { body, headers, secret: SECRET, now: NOW }
}

const judged = (changes: Partial<Received>, saw: Saw): Promise<string> =>
  verdictOf({ ...signed(), ...changes }, saw)

export const DELIVERY_CHECKS: Checks = {
  async V16(t, saw) {
    await published('V16')(t, saw)
    const value = signatureHeader(NOW, BODY, [SECRET])
    const headers = { 'Service-Signature': value, 'service-signature': value }
    t.equal(await judged({ headers }, saw), 'header_malformed')
  },

  async V17(t, saw) {
    await published('V17')(t, saw)
    const secretOf = (bytes: number): string => `whsec_${toBase64(new Uint8Array(bytes))}`
    const unusedBits = `whsec_${'/'.repeat(42)}9=`
    const cut = SECRET.slice(0, -1)
    const broken = ['', 'whsec_', `${SECRET}\n`, SECRET.slice(6), cut, `${cut}-`, unusedBits]
    for (const secret of [...broken, secretOf(8), secretOf(23), secretOf(65), [], [SECRET, '']]) {
      t.equal(await judged({ secret }, saw), 'secret_malformed', JSON.stringify(secret))
    }
  },

  V18: published('V18'),

  async V19(t, saw) {
    await published('V19')(t, saw)
    const large = utf8(`${' '.repeat(10 * 1024 * 1024)}${new TextDecoder().decode(BODY)}`)
    for (const bytes of [BODY, large]) {
      const inLarger = Buffer.concat([Buffer.from('x'), bytes, Buffer.from('x')]).subarray(1, -1)
      const exact = Uint8Array.from(bytes).buffer
      for (const body of [bytes, inLarger, exact, new TextDecoder().decode(bytes)]) {
        t.equal(await judged({ ...signed(bytes), body }, saw), 'verified')
      }
    }
  },

  async V20(t, saw) {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(BODY))
    for (const body of [parsed, [parsed], undefined, null, 7]) {
      t.equal(await judged({ body: body as string }, saw), 'body_not_raw')
    }
    const { headers } = signed()
    await t.rejects(verifyWebhook(parsed as string, headers, SECRET), /raw request body/)
  },

  async V22(t, saw) {
    const again = (now: number) =>
      verifyWebhook(BODY, signed().headers, SECRET, { now: now * 1000 })
    const [first, second] = [await again(NOW), await again(NOW + 300)]
    t.equal(first.id, EVENT.id)
    t.equal(second.id, first.id)
    t.equal(await judged({ now: NOW + 300 }, saw), 'verified')
    t.equal(await judged({ now: NOW + 301 }, saw), 'timestamp_outside_tolerance')
  },

  async V23(t, saw) {
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
    for (const headers of carriers) t.equal(await judged({ headers }, saw), 'verified')
  },

  async V24(t, saw) {
    const data = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    const body = serializeEvent({ ...EVENT, data })
    const { headers } = signed(body)
    t.equal(await judged({ body, headers }, saw), 'verified')
    const event = await verifyWebhook(body, headers, SECRET, { now: NOW * 1000 })
    t.equal(Object.getPrototypeOf(event.data), Object.prototype)
    t.equal(Object.getPrototypeOf(event), Object.prototype)
    t.notOk('polluted' in {})
  },

  // Welch's t over 10^5 samples says nothing on a shared machine. What can be known is who compares.
  async V25(t, saw) {
    const good = signatureHeader(NOW, BODY, [SECRET])
    const hex = good.slice(-64)
    const flipped = (at: number): string =>
      hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1)
    const { verify } = globalThis.crypto.subtle
    const comparisons = t.capture(globalThis.crypto.subtle, 'verify', verify)
    for (const at of [0, 1, 31, 62, 63]) {
      const headers = { 'Service-Signature': `t=${NOW},v1=${flipped(at)}` }
      t.equal(await judged({ headers }, saw), 'signature_mismatch')
      t.equal(comparisons.calls.splice(0).length, 1, `wrong at ${at}`)
    }
    comparisons.restore()
  },
}
