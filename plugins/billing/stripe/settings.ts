import { ProcessorError, type ProcessorSetting, type ProcessorSettings } from '../contract.ts'

export interface StripeSettings {
  readonly apiKey: string
  /** The current signing secret, and others while it is rotated. */
  readonly webhookSecrets: readonly string[]
  /** Price of the Pro plan. */
  readonly pricePro: string
  readonly baseUrl: URL
}

const API_KEY = 'KEYHOOK_STRIPE_API_KEY'
const WEBHOOK_SECRET = 'KEYHOOK_STRIPE_WEBHOOK_SECRET'
const PRICE_PRO = 'KEYHOOK_STRIPE_PRICE_PRO'
const BASE_URL = 'KEYHOOK_STRIPE_BASE_URL'

export const SETTINGS: readonly ProcessorSetting[] = [
  { name: API_KEY, required: true },
  { name: WEBHOOK_SECRET, required: true },
  { name: PRICE_PRO, required: true },
  { name: BASE_URL, required: false },
]

const STRIPE = 'https://api.stripe.com'
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** @throws ProcessorError `misconfigured` */
export function readSettings(given: ProcessorSettings): StripeSettings {
  const baseUrl = readBaseUrl(given)
  const apiKey = read(given, API_KEY, /^[sr]k_(test|live)_\w+$/, 'a secret or restricted key')
  if (apiKey.slice(3).startsWith('live_') && baseUrl.origin !== STRIPE) {
    throw wrong(BASE_URL, `${STRIPE}, because the key is a live one`)
  }
  const secrets = read(given, WEBHOOK_SECRET, /^whsec_[^\s,]+(\s*,\s*whsec_[^\s,]+)*$/, 'whsec_…')
  return {
    apiKey,
    webhookSecrets: secrets.split(',').map((secret) => secret.trim()),
    pricePro: read(given, PRICE_PRO, /^[\w-]+$/, 'the id of a price, price_…'),
    baseUrl,
  }
}

/** @throws ProcessorError `misconfigured` */
export function readBaseUrl(given: ProcessorSettings): URL {
  const text = given[BASE_URL] ?? STRIPE
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && url.href === `${url.origin}/`
  if (!isPlain) throw wrong(BASE_URL, `an origin such as ${STRIPE}`)
  const isGuarded = url.protocol === 'https:' || LOOPBACK.has(url.hostname)
  if (!isGuarded || !/^https?:$/.test(url.protocol))
    throw wrong(BASE_URL, 'https, except on loopback')
  return url
}

function read(given: ProcessorSettings, name: string, form: RegExp, allowed: string): string {
  const value = given[name]?.trim() ?? ''
  if (form.test(value)) return value
  throw wrong(name, allowed)
}

/** It never repeats the value. */
function wrong(name: string, allowed: string): ProcessorError {
  return new ProcessorError('misconfigured', { internal: `${name} must be ${allowed}` })
}
