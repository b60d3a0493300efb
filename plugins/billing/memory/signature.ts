import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Instant, SECOND } from '../../../lib/time.ts'
import { type IncomingEvent, ProcessorError } from '../contract.ts'

const HEADER = 'memory-signature'
/** How far a signature's time may lie from now, before and after. */
const TOLERANCE = 300 * SECOND

/** The header of a signature over the time and the raw bytes. */
export function signBytes(
  body: Uint8Array,
  at: Instant,
  secret: string,
): Readonly<Record<string, string>> {
  return { [HEADER]: `t=${at},v1=${macOf(body, at, secret).toString('hex')}` }
}

/** @throws ProcessorError `invalid_signature` */
export function verifyBytes({ headers, body, now }: IncomingEvent, secret: string): void {
  const [, at, mac] = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/.exec(headers[HEADER] ?? '') ?? []
  if (at === undefined || mac === undefined) throw new ProcessorError('invalid_signature')
  const isOurs = timingSafeEqual(Buffer.from(mac, 'hex'), macOf(body, Number(at), secret))
  if (!isOurs || Math.abs(now - Number(at)) > TOLERANCE) {
    throw new ProcessorError('invalid_signature')
  }
}

function macOf(body: Uint8Array, at: Instant, secret: string): Buffer {
  return createHmac('sha256', secret).update(`${at}.`).update(body).digest()
}
