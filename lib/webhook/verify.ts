/** Why a delivery is refused. A code never changes its meaning. */
export type VerificationErrorCode =
  | 'body_not_raw'
  | 'secret_malformed'
  | 'header_missing'
  | 'header_malformed'
  | 'too_many_signatures'
  | 'timestamp_outside_tolerance'
  | 'signature_mismatch'
  | 'body_malformed'

const TEXTS: Readonly<Record<VerificationErrorCode, string>> = {
  body_not_raw:
    'Pass the raw request body (bytes or string) as it arrived, before any JSON parser reads it.',
  secret_malformed:
    'The secret is not a signing secret: "whsec_" and the base64 of 24 to 64 bytes, copied whole.',
  header_missing: 'The request carries no webhook signature.',
  header_malformed: 'The signature headers are malformed or sent more than once.',
  too_many_signatures: 'The request carries more than 16 signatures.',
  timestamp_outside_tolerance: 'The signature is too old or from the future. Check the clock.',
  signature_mismatch: 'No signature matches: another secret signed it, or the body was changed.',
  body_malformed: 'The body is signed, but it is not an event.',
}

/** A delivery that must not be trusted: answer it with 400 and do nothing else. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly code: VerificationErrorCode

  /** @param options.message replaces the text of the code */
  constructor(code: VerificationErrorCode, options?: VerificationErrorOptions) {
    if (!Object.hasOwn(TEXTS, code)) {
      const allowed = Object.keys(TEXTS).join(', ')
      throw new TypeError(`WebhookVerificationError: code must be one of ${allowed}`)
    }
    if (arguments.length > 2 || !isErrorOptions(options)) {
      throw new TypeError(
        'WebhookVerificationError: options must be { cause, message: text } or left out',
      )
    }
    super(options?.message ?? TEXTS[code], options)
    this.code = code
  }
}

interface VerificationErrorOptions extends ErrorOptions {
  readonly message?: string
}

function isErrorOptions(options: unknown): boolean {
  if (options === undefined) return true
  if (!isPlain(options)) return false
  const { message = '' } = options as { readonly message?: unknown }
  const isKnown = (name: unknown): boolean => name === 'cause' || name === 'message'
  return typeof message === 'string' && Reflect.ownKeys(options).every(isKnown)
}

/** The headers of a request: Fetch `Headers`, or the record of Node, Koa or Express, in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** Maximum age and maximum lead of the timestamp, in seconds. Default 300. */
  readonly tolerance?: number
  /** The current time in milliseconds. Default `Date.now()`. */
  readonly now?: number
  /** The name of the sender's signature header, such as `Shop-Signature`. Default `Service-Signature`. */
  readonly signatureHeader?: string
}

/** An event with a valid signature. */
export interface VerifiedWebhook {
  /** Constant over all attempts and webhooks: store it, and drop repetitions. */
  readonly id: string
  readonly type: string
  /** When the event happened: ISO 8601, UTC, with `Z`. */
  readonly created_at: string
  /** The result of `JSON.parse`. Validate it before use. */
  readonly data: Readonly<Record<string, unknown>>
  /** When this attempt was signed: Unix time in seconds. */
  readonly timestamp: number
  /** From the delivery header, which is not signed: use it for logs and support only. */
  readonly deliveryId: string | undefined
}

/**
 * Verifies a delivery and returns its event. The body is parsed only after its signature is verified.
 *
 * Without the brand's header it verifies the Standard Webhooks headers (`webhook-id`,
 * `webhook-timestamp`, `webhook-signature`). A captured delivery verifies again within the tolerance:
 * store each `id` for twice that time and drop repetitions.
 *
 * @param secret one signing secret, or a list during a rotation
 * @throws WebhookVerificationError for any invalid request
 * @throws TypeError for unknown or wrong options, which are a defect of the receiver
 * @example
 * const event = await verifyWebhook(await request.text(), request.headers, 'whsec_…')
 * if (event.type === 'app.deployed') console.log(event.data['app_id'])
 */
export async function verifyWebhook(
  rawBody: Uint8Array | ArrayBuffer | string,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<VerifiedWebhook> {
  if (arguments.length > 4) {
    throw new TypeError('verifyWebhook: takes at most (rawBody, headers, secret, options)')
  }
  const { signatureHeader: headerName, ...clock } = readOptions(options)
  const body = bodyBytes(rawBody)
  const secrets = readSecrets(secret)
  const signed = readSigned(headers, headerName)
  refuseOutdated(signed.timestamp, clock)
  await refuseMismatch(signed, body, secrets)
  const deliveryId = readHeader(headers, deliveryHeaderOf(headerName))
  return { ...readEvent(body), timestamp: Number(signed.timestamp), deliveryId }
}

const DEFAULT_SIGNATURE_HEADER = 'Service-Signature'
const DEFAULT_TOLERANCE = 300
const MAX_SIGNATURES = 16

/** The content of the signature headers, common to both forms. */
interface Signed {
  readonly timestamp: string
  /** The signed text up to the body. */
  readonly prefix: string
  /** Decoded `v1` values, without those that are not 32 bytes: they cannot match. */
  readonly signatures: readonly Bytes[]
  readonly keyOf: (secret: Secret) => Bytes
}

type Bytes = Uint8Array<ArrayBuffer>

interface Secret {
  readonly text: Bytes
  readonly decoded: Bytes
}

interface OptionRule {
  readonly allowed: string
  accepts(value: unknown): boolean
}

const OPTION_RULES: Readonly<Record<keyof VerifyOptions, OptionRule>> = {
  tolerance: {
    allowed: 'seconds, 0 or more',
    accepts: (value) => Number.isFinite(value) && (value as number) >= 0,
  },
  now: { allowed: 'epoch milliseconds', accepts: Number.isFinite },
  signatureHeader: {
    allowed: 'the name of a header',
    accepts: (value) => typeof value === 'string' && /^[\w-]+$/.test(value),
  },
}

/** Reads own properties, each once. A misspelt `tolerance` must not mean the default. */
function readOptions(given: unknown): Required<VerifyOptions> {
  if (!isPlain(given)) {
    throw new TypeError('verifyWebhook: options must be a plain object')
  }
  const options: Record<string, unknown> = {}
  for (const name of Reflect.ownKeys(given)) {
    const rule = Object.hasOwn(OPTION_RULES, name) ? OPTION_RULES[name as 'now'] : undefined
    if (rule === undefined) {
      const allowed = Object.keys(OPTION_RULES).join(', ')
      throw new TypeError(
        `verifyWebhook: unknown name ${String(name)} in options; allowed: ${allowed}`,
      )
    }
    const value = (given as Record<PropertyKey, unknown>)[name]
    if (value !== undefined && !rule.accepts(value)) {
      throw new TypeError(`verifyWebhook: options.${String(name)} must be ${rule.allowed}`)
    }
    if (value !== undefined) options[String(name)] = value
  }
  return {
    tolerance: DEFAULT_TOLERANCE,
    now: Date.now(),
    signatureHeader: DEFAULT_SIGNATURE_HEADER,
    ...options,
  }
}

function refuse(code: VerificationErrorCode, options?: VerificationErrorOptions): never {
  throw new WebhookVerificationError(code, options)
}

/** Copies the body, so that the verified bytes are parsed even if the caller reuses its buffer. */
function bodyBytes(rawBody: unknown): Bytes {
  if (typeof rawBody === 'string') return utf8(rawBody)
  if (ArrayBuffer.isView(rawBody)) {
    return new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength).slice()
  }
  return isArrayBuffer(rawBody) ? new Uint8Array(rawBody).slice() : refuse('body_not_raw')
}

/** By its tag: test runners and frames pass buffers of another realm. */
function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]'
}

function readSecrets(secret: string | readonly string[]): readonly Secret[] {
  const texts: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
  if (texts.length === 0) refuse('secret_malformed')
  return texts.map((text) => {
    const [, encoded] = typeof text === 'string' ? (SECRET.exec(text) ?? []) : []
    const decoded = encoded === undefined ? undefined : fromBase64(encoded)
    if (decoded === undefined || decoded.length < 24 || decoded.length > 64) {
      return refuse('secret_malformed')
    }
    return { text: utf8(`whsec_${encoded}`), decoded }
  })
}

const SECRET = /^whsec_(.+)$/

function readSigned(headers: WebhookHeaders, headerName: string): Signed {
  const own = readHeader(headers, headerName)
  if (own !== undefined) return readOwnForm(own)
  const id = readHeader(headers, 'webhook-id')
  const timestamp = readHeader(headers, 'webhook-timestamp')
  const list = readHeader(headers, 'webhook-signature')
  if (id === undefined || timestamp === undefined || list === undefined) {
    return refuse('header_missing', { message: describeMissing(headers, headerName) })
  }
  return readStandardForm(id, timestamp, list)
}

/** Pattern of a brand's signature header; excludes the Standard Webhooks one. */
const BRAND_HEADER = /^(?!webhook-)[a-z][a-z0-9]{0,30}-signature$/i

/** Names the signature header that the request has instead. Never repeats a value. */
function describeMissing(headers: unknown, headerName: string): string {
  const looked = `The request carries no webhook signature: it has no ${headerName} header`
  const found = headerNames(headers).find((name) => BRAND_HEADER.test(name))
  return found === undefined
    ? `${looked}.`
    : `${looked}, but ${found}. If that is the sender's, pass { signatureHeader: '${found}' }.`
}

/** The names in Fetch `Headers` or in a record; other header objects cannot be listed. */
function headerNames(headers: unknown): readonly string[] {
  if (headers instanceof Headers) return Array.from(headers.keys())
  if (typeof headers !== 'object' || headers === null || 'get' in headers) return []
  return Object.keys(headers)
}

/** Reads the value of a header. A header that is sent twice is malformed: parsers would disagree. */
function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  const values = headerValues(headers, name)
  if (values.length > 1) refuse('header_malformed')
  const value = values[0]
  if (value === undefined) return undefined
  return typeof value === 'string' ? value : refuse('header_malformed')
}

function headerValues(headers: unknown, name: string): readonly unknown[] {
  if (typeof headers !== 'object' || headers === null) return []
  if ('get' in headers && typeof headers.get === 'function') {
    const value: unknown = headers.get(name)
    return value === null || value === undefined ? [] : [value]
  }
  const lowerName = name.toLowerCase()
  return Object.entries(headers)
    .filter(([key, value]) => key.toLowerCase() === lowerName && value !== undefined)
    .flatMap(([, value]: [string, unknown]) => value)
}

const OWN_PART = /^([a-z][a-z0-9]*)=(.*)$/s

/** Parses `t=<seconds>,v1=<hex>[,v1=<hex>…]`: exactly one `t`; other schemes are ignored. */
function readOwnForm(header: string): Signed {
  // The timestamp, the allowed signatures, and one more that shows that there are too many.
  const parts = header.split(',', MAX_SIGNATURES + 2)
  if (parts.length > MAX_SIGNATURES + 1) refuse('too_many_signatures')
  let timestamp: string | undefined
  const signatures: Bytes[] = []
  for (const part of parts) {
    const [, scheme, value = ''] = OWN_PART.exec(part) ?? refuse('header_malformed')
    if (scheme === 't') {
      if (timestamp !== undefined) refuse('header_malformed')
      timestamp = value
    } else if (scheme === 'v1') {
      const signature = fromHex(value)
      if (signature?.length === 32) signatures.push(signature)
    }
  }
  if (timestamp === undefined || !TIMESTAMP.test(timestamp)) return refuse('header_malformed')
  return { timestamp, prefix: `${timestamp}.`, signatures, keyOf: (secret) => secret.text }
}

const TIMESTAMP = /^[0-9]{1,12}$/
const STANDARD_ID = /^[A-Za-z0-9_-]{1,256}$/
// A second comma means that two headers were joined.
const STANDARD_PART = /^([A-Za-z0-9]+),([^,]*)$/

/** Parses `v1,<base64>[ v1,<base64>…]` and the two headers that belong to it; other schemes are ignored. */
function readStandardForm(id: string, timestamp: string, list: string): Signed {
  if (!STANDARD_ID.test(id) || !TIMESTAMP.test(timestamp)) refuse('header_malformed')
  const parts = list.split(' ', MAX_SIGNATURES + 1)
  if (parts.length > MAX_SIGNATURES) refuse('too_many_signatures')
  const signatures: Bytes[] = []
  for (const part of parts) {
    const [, scheme, value = ''] = STANDARD_PART.exec(part) ?? refuse('header_malformed')
    const signature = scheme === 'v1' ? fromBase64(value) : undefined
    if (signature?.length === 32) signatures.push(signature)
  }
  const prefix = `${id}.${timestamp}.`
  return { timestamp, prefix, signatures, keyOf: (secret) => secret.decoded }
}

function refuseOutdated(
  timestamp: string,
  { now, tolerance }: Pick<Required<VerifyOptions>, 'now' | 'tolerance'>,
): void {
  const nowSeconds = Math.floor(now / 1000)
  // Written so that NaN is refused.
  const isWithin = Math.abs(nowSeconds - Number(timestamp)) <= tolerance
  if (!isWithin) refuse('timestamp_outside_tolerance')
}

/** `subtle.verify` compares in constant time, so the duration reveals nothing about a guess. */
async function refuseMismatch(
  signed: Signed,
  body: Bytes,
  secrets: readonly Secret[],
): Promise<void> {
  if (signed.signatures.length === 0) refuse('signature_mismatch')
  const { subtle } = globalThis.crypto
  const message = concat(utf8(signed.prefix), body)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  for (const secret of secrets) {
    const key = await subtle.importKey('raw', signed.keyOf(secret), algorithm, false, ['verify'])
    for (const signature of signed.signatures) {
      if (await subtle.verify('HMAC', key, signature, message)) return
    }
  }
  refuse('signature_mismatch')
}

function readEvent(body: Bytes): Pick<VerifiedWebhook, 'id' | 'type' | 'created_at' | 'data'> {
  let event: unknown
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    return refuse('body_malformed', { cause })
  }
  if (!isRecord(event)) return refuse('body_malformed')
  const { id, type, created_at, data } = event
  if (typeof id !== 'string' || typeof type !== 'string' || typeof created_at !== 'string') {
    return refuse('body_malformed')
  }
  return isRecord(data) ? { id, type, created_at, data } : refuse('body_malformed')
}

/** Excludes instances of classes: their properties may not be the caller's. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.hasOwn(prototype as object, 'isPrototypeOf')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The headers share the sender's brand: `Service-Signature` and `X-Service-Delivery-ID`. */
function deliveryHeaderOf(signatureHeader: string): string {
  return `X-${signatureHeader.replace(/-signature$/i, '')}-Delivery-ID`
}

// This module imports nothing, so that a receiver can copy it alone. Therefore it has its own codecs.

function utf8(text: string): Bytes {
  return new Uint8Array(new TextEncoder().encode(text))
}

function concat(head: Bytes, tail: Bytes): Bytes {
  const joined = new Uint8Array(head.length + tail.length)
  joined.set(head)
  joined.set(tail, head.length)
  return joined
}

function fromHex(text: string): Bytes | undefined {
  if (!/^(?:[0-9a-f]{2})+$/.test(text)) return undefined
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16))
}

/** Strict: standard alphabet, full padding, no white space, one encoding per value. */
function fromBase64(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) return undefined
  const binary = atob(text)
  if (btoa(binary) !== text) return undefined
  return Uint8Array.from(binary, (char) => char.charCodeAt(0))
}
