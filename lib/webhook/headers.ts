import { signatureHeader, standardSignature } from './sign.ts'

/** The names that a brand gives to what the outside sees. */
export interface BrandNames {
  /** What every developer key begins with, as `service_dk_`. */
  readonly keyPrefix: string
  /** As `X-Service-Event`. */
  readonly eventHeader: string
  /** As `X-Service-Delivery-ID`. */
  readonly deliveryHeader: string
  /** As `Service-Signature`. */
  readonly signatureHeader: string
  /** As `Service-Webhook/1.0`. */
  readonly userAgent: string
  /** The label below which the owner of a hostname proves it, as `_service-challenge`. */
  readonly challengeLabel: string
}

const BRAND = /^[a-z][a-z0-9]{0,30}$/

/**
 * Derives the names of a brand: a lower-case letter and up to 30 lower-case letters or digits.
 *
 * @throws TypeError for any other brand.
 * @example
 * brandNames('service').signatureHeader // 'Service-Signature'
 */
export function brandNames(brand: string): BrandNames {
  if (!BRAND.test(brand)) {
    throw new TypeError('a brand is a lower-case letter and up to 30 lower-case letters or digits')
  }
  const title = brand.charAt(0).toUpperCase() + brand.slice(1)
  return {
    keyPrefix: `${brand}_dk_`,
    eventHeader: `X-${title}-Event`,
    deliveryHeader: `X-${title}-Delivery-ID`,
    signatureHeader: `${title}-Signature`,
    userAgent: `${title}-Webhook/1.0`,
    challengeLabel: `_${brand}-challenge`,
  }
}

/** One attempt, as its headers need it. */
export interface DeliveryHeadersInput {
  readonly eventType: string
  readonly eventId: string
  readonly deliveryId: string
  /** Unix time of the attempt in whole seconds. */
  readonly timestampSeconds: number
  /** The raw bytes that are sent. */
  readonly body: Uint8Array
  /** Every live `whsec_` secret; each of them signs. */
  readonly secrets: readonly string[]
  /** Sends the Standard Webhooks headers as well; their `webhook-id` is the event's id. */
  readonly standardHeaders: boolean
  /** The webhook's own headers, each judged by `customHeaderProblem` when it was stored. */
  readonly custom: Readonly<Record<string, string>>
}

/**
 * Builds the headers of one attempt: the custom ones, and over them ours with the signatures.
 *
 * @throws TypeError when the attempt cannot be signed, as `signatureHeader` says.
 * @example
 * const headers = deliveryHeaders(brandNames('service'), attempt)
 * headers['Service-Signature'] // 't=1700000000,v1=…'
 */
export function deliveryHeaders(
  names: BrandNames,
  input: DeliveryHeadersInput,
): Record<string, string> {
  const { timestampSeconds, body, secrets } = input
  const headers: Record<string, string> = {
    ...input.custom,
    'Content-Type': 'application/json',
    'User-Agent': names.userAgent,
    [names.eventHeader]: input.eventType,
    [names.deliveryHeader]: input.deliveryId,
    [names.signatureHeader]: signatureHeader(timestampSeconds, body, secrets),
  }
  if (input.standardHeaders) {
    headers['webhook-id'] = input.eventId
    headers['webhook-timestamp'] = String(timestampSeconds)
    headers['webhook-signature'] = standardSignature(input.eventId, timestampSeconds, body, secrets)
  }
  return headers
}

/** RFC 9110 section 5.6.2: what a field name is made of. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** RFC 9110 section 5.5, with Latin-1 for obs-text: no control character but the tab. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

const MAX_NAME_LENGTH = 100
const MAX_VALUE_LENGTH = 1000

/** RFC 9110 section 7.6.1 and what else belongs to the connection, the framing or the client. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])

export const RESERVED_PREFIXES: readonly string[] = ['content-', 'proxy-', 'webhook-']

/**
 * Says what is wrong with a custom header of a webhook, or `undefined` when it may be sent.
 *
 * Refused are our own headers, `webhook-*`, `content-*`, `host`, hop-by-hop ones, names that are no
 * token of at most 100 characters, and values that are not Latin-1 text of at most 1000 characters.
 * The answer is a public sentence; it never repeats the value.
 *
 * @example
 * customHeaderProblem('X-Tenant', 'blue', brandNames('service')) // undefined
 * customHeaderProblem('Host', 'a.example', brandNames('service')) // 'This header is set by the sender.'
 */
export function customHeaderProblem(
  name: string,
  value: string,
  names: BrandNames,
): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return 'A header name is at most 100 characters.'
  if (!TOKEN.test(name)) return "A header name is letters, digits and !#$%&'*+-.^_`|~."
  if (isReserved(name.toLowerCase(), names)) return 'This header is set by the sender.'
  if (value.length > MAX_VALUE_LENGTH) return 'A header value is at most 1000 characters.'
  if (!FIELD_VALUE.test(value)) return 'A header value is one line of Latin-1 text.'
  // HTTP strips outer white space in transit: what is stored must be what arrives.
  if (value !== value.trim()) return 'A header value has no white space around it.'
  return undefined
}

function isReserved(lowerName: string, names: BrandNames): boolean {
  return (
    RESERVED_NAMES.has(lowerName) ||
    RESERVED_PREFIXES.some((prefix) => lowerName.startsWith(prefix)) ||
    lowerName === names.eventHeader.toLowerCase() ||
    lowerName === names.deliveryHeader.toLowerCase() ||
    lowerName === names.signatureHeader.toLowerCase()
  )
}
