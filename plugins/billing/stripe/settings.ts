import { ProcessorError, type ProcessorSetting, type ProcessorSettings } from '../contract.ts'

/** Ids of prices, the one that is sold first. */
export type ProPrices = readonly [string, ...string[]]

export interface StripeSettings {
  readonly apiKey: string
  /** Whether the key is of the live mode. */
  readonly live: boolean
  /** The current signing secret, and others while it is rotated. */
  readonly webhookSecrets: readonly string[]
  /** Prices of the Pro plan: the first is sold, and all are those of Pro. */
  readonly proPrices: ProPrices
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
  const live = apiKey.slice(3).startsWith('live_')
  if (live && baseUrl.origin !== STRIPE) {
    throw wrong(BASE_URL, `${STRIPE}, because the key is a live one`)
  }
  const secrets = read(given, WEBHOOK_SECRET, /^whsec_[^\s,]+(\s*,\s*whsec_[^\s,]+)*$/, 'whsec_…')
  const prices = read(given, PRICE_PRO, /^[\w-]+(\s*,\s*[\w-]+)*$/, 'ids of prices, price_…')
  const [sold = '', ...earlier] = partsOf(prices)
  return {
    apiKey,
    live,
    webhookSecrets: partsOf(secrets),
    proPrices: [sold, ...earlier],
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

function partsOf(list: string): readonly string[] {
  return list.split(',').map((part) => part.trim())
}

/** It never repeats the value. */
function wrong(name: string, allowed: string): ProcessorError {
  return new ProcessorError('misconfigured', { internal: `${name} must be ${allowed}` })
}
