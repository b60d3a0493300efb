import { signatureHeader, standardSignature } from './sign.ts'

/** Public names that are derived from a brand. */
export interface BrandNames {
  /** Prefix of developer keys, such as `service_dk_`. */
  readonly keyPrefix: string
  /** Such as `X-Service-Event`. */
  readonly eventHeader: string
  /** Such as `X-Service-Delivery-ID`. */
  readonly deliveryHeader: string
  /** Such as `Service-Signature`. */
  readonly signatureHeader: string
  /** Such as `Service-Webhook/1.0`. */
  readonly userAgent: string
  /** DNS label of the record that proves the ownership of a hostname, such as `_service-challenge`. */
  readonly challengeLabel: string
}

const BRAND = /^[a-z][a-z0-9]{0,30}$/

/**
 * Derives the public names of a brand.
 *
 * @param brand a lower-case letter and up to 30 lower-case letters or digits
 * @throws TypeError for any other brand
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

/** The facts of one attempt that its headers need. */
export interface DeliveryHeadersInput {
  readonly eventType: string
  readonly eventId: string
  readonly deliveryId: string
  /** Unix time of the attempt in whole seconds. */
  readonly timestampSeconds: number
  /** The raw bytes that are sent. */
  readonly body: Uint8Array
  /** Every live `whsec_` secret; each one signs. */
  readonly secrets: readonly string[]
  /** Adds the Standard Webhooks headers; `webhook-id` is the event's id. */
  readonly standardHeaders: boolean
  /** Custom headers of the webhook, checked by `customHeaderProblem` when they were stored. */
  readonly custom: Readonly<Record<string, string>>
  /** W3C context of the attempt, which replaces a custom header of that name. Default: none is sent. */
  readonly traceparent?: string | undefined
}

/**
 * Builds the headers of one attempt. Ours, with the signatures, override custom ones.
 *
 * @throws TypeError when the attempt cannot be signed, see `signatureHeader`
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
  if (input.traceparent !== undefined) {
    for (const name of Object.keys(input.custom))
      if (name.toLowerCase() === 'traceparent') delete headers[name]
    headers['traceparent'] = input.traceparent
  }
  return headers
}

/** The token of a field name (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** A field value (RFC 9110, 5.5) with Latin-1 for obs-text: no control character except the tab. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

const MAX_NAME_LENGTH = 100
const MAX_VALUE_LENGTH = 1000

/** Headers of the connection (RFC 9110, 7.6.1), of the framing and of the client. */
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
 * Checks a custom header of a webhook. Returns undefined when it may be sent, otherwise a public sentence
 * that never repeats the value.
 *
 * Refuses our own headers, `webhook-*`, `content-*`, `proxy-*`, `host`, hop-by-hop headers, names that
 * are not a token of at most 100 characters, and values that are not Latin-1 text of at most 1000.
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
  // HTTP strips outer white space in transit, so the receiver would not get the stored value.
  if (value !== value.trim()) return 'A header value must not begin or end with white space.'
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
