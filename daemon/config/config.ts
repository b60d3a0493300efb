import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { nearest } from '../../lib/internal/nearest.ts'
import { isPostgresUrl } from '../../plugins/store/contract/address.ts'
import type { ServeMode, SettingInForce } from './in-force.ts'
import { settingsInForce } from './in-force.ts'
import type { Setting } from './setting.ts'
import { ConfigError } from './setting.ts'
import { SETTINGS } from './settings.ts'

export { ConfigError } from './setting.ts'

type Settings = typeof SETTINGS

/** The configuration: each setting parsed. */
export type Config = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T> ? T : never
} & {
  /** Mode of `serve` with defaults of its own; undefined for production. */
  readonly mode: ServeMode | undefined
  /** Connections to receivers that are kept open. */
  readonly dispatchSockets: number
  /**
   * The value of a variable that is no setting of Keyhook's, or of its `_FILE`: those that a payment
   * processor names.
   *
   * @throws ConfigError
   */
  readonly variable: (name: string) => string | undefined
  /** Every setting and where its value comes from. */
  readonly inForce: readonly SettingInForce[]
}

/** Connections kept per concurrent delivery: many webhooks share few receivers. */
const SOCKETS_PER_DELIVERY = 32

interface Rates {
  readonly reads: number
  readonly writes: number
}

export function rateLimitsOf(config: Config): Rates & { readonly account: Rates } {
  const { rateReads: reads, rateWrites: writes, rateAccountReads, rateAccountWrites } = config
  const account = { reads: rateAccountReads ?? reads, writes: rateAccountWrites ?? writes }
  return { reads, writes, account }
}

const THIS_MACHINE = { KEYHOOK_WEBHOOK_ALLOW: '127.0.0.0/8,::1/128,localhost' }

const MODE_DEFAULTS: Readonly<Record<ServeMode, Readonly<Record<string, string>>>> = {
  /** Fast retries, for a first look. */
  dev: {
    ...THIS_MACHINE,
    KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '1,2,4',
    KEYHOOK_WEBHOOK_DISABLE_FAILURES: '3',
    KEYHOOK_WEBHOOK_DISABLE_HOURS: '0',
  },
  /** Otherwise as in production: a test moves the clock. */
  test: THIS_MACHINE,
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

/**
 * Reads the configuration from the environment.
 *
 * @throws ConfigError that names the setting and the remedy, or an unknown `KEYHOOK_` name
 */
export function readConfig(env: Readonly<NodeJS.ProcessEnv>, mode?: ServeMode): Config {
  refuseUnknown(env)
  const given = mode === undefined ? env : { ...MODE_DEFAULTS[mode], ...env }
  // Each is read once: a file may be a pipe.
  const texts = new Map(
    Object.values(SETTINGS).map(({ env: name }) => [name, readText(name, given)] as const),
  )
  const entries = Object.entries(SETTINGS).map(([name, setting]) => [
    name,
    read(setting as Setting<unknown>, texts.get(setting.env)),
  ])
  const values = Object.fromEntries(entries) as Omit<
    Config,
    'mode' | 'dispatchSockets' | 'variable' | 'inForce'
  >
  const dispatchSockets = SOCKETS_PER_DELIVERY * values.dispatchConcurrency
  const variable = (name: string): string | undefined => readText(name, env)
  const inForce = settingsInForce(env, texts, mode)
  const config: Config = { ...values, mode, dispatchSockets, variable, inForce }
  for (const [name, host] of Object.entries({
    KEYHOOK_HOST: config.host,
    KEYHOOK_APPS_HOST: config.appsHost ?? config.host,
  })) {
    if (mode !== undefined && !LOOPBACK.has(host)) {
      throw new ConfigError(
        `${name} must be a loopback address with --${mode}, which lets webhooks reach this machine`,
      )
    }
  }
  for (const [name, needed] of incomplete(config)) {
    throw new ConfigError(`${name} is set, and ${needed} must be set with it`)
  }
  const { appsDomain, appsUrl } = config
  if (appsDomain !== undefined && appsUrl !== undefined && !leadsTo(appsUrl, appsDomain)) {
    throw new ConfigError(
      'KEYHOOK_APPS_URL must be an address of KEYHOOK_APPS_DOMAIN, or go without',
    )
  }
  return config
}

/** Settings that `KEYHOOK_BILLING=stripe` needs. */
const STRIPE = [
  ['KEYHOOK_STRIPE_API_KEY', 'stripeApiKey'],
  ['KEYHOOK_STRIPE_WEBHOOK_SECRET', 'stripeWebhookSecret'],
  ['KEYHOOK_STRIPE_PRICE_PRO', 'stripePricePro'],
] as const

/** Settings that need another setting, each with that setting. */
function incomplete(config: Config): readonly (readonly [name: string, needed: string])[] {
  const { ownerEmail, ownerPassword, llmBaseUrl, llmModel } = config
  const { embeddingsModel, embeddingsBaseUrl = llmBaseUrl } = config
  const stripe = config.billing === 'stripe' ? config.billing : undefined
  const pairs = [
    ['KEYHOOK_OWNER_EMAIL', ownerEmail, 'KEYHOOK_OWNER_PASSWORD', ownerPassword],
    ['KEYHOOK_OWNER_PASSWORD', ownerPassword, 'KEYHOOK_OWNER_EMAIL', ownerEmail],
    ['KEYHOOK_LLM_BASE_URL', llmBaseUrl, 'KEYHOOK_LLM_MODEL', llmModel],
    [
      'KEYHOOK_EMBEDDINGS_MODEL',
      embeddingsModel,
      'KEYHOOK_EMBEDDINGS_BASE_URL or KEYHOOK_LLM_BASE_URL',
      embeddingsBaseUrl,
    ],
    ...STRIPE.map(([name, setting]) => ['KEYHOOK_BILLING', stripe, name, config[setting]] as const),
  ] as const
  return pairs.flatMap(([name, value, needed, other]) =>
    value !== undefined && other === undefined ? [[name, needed] as const] : [],
  )
}

function leadsTo(address: string, domain: string): boolean {
  return new URL(address).hostname === domain
}

function read<T>(setting: Setting<T>, text: string | undefined): T {
  if (text === undefined) return setting.fallback
  try {
    return setting.parse(text)
  } catch (cause) {
    const message = messageOf(cause)
    // A message that quotes the value must not print a secret.
    const shown = setting.secret === true && message.includes(text) ? 'cannot be used' : message
    throw new ConfigError(`${setting.env} ${shown}`, { cause })
  }
}

function readText(name: string, env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  const file = env[`${name}_FILE`]
  if (file === undefined || file === '') return env[name] === '' ? undefined : env[name]
  if (env[name] !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set`)
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new ConfigError(`${name}_FILE cannot be read: ${messageOf(cause)}`, { cause })
  }
}

function refuseUnknown(env: Readonly<NodeJS.ProcessEnv>): void {
  const known = new Set(Object.values(SETTINGS).flatMap((one) => [one.env, `${one.env}_FILE`]))
  const unknown = Object.keys(env).find(
    (name) => /^KEYHOOK_(?!TEST_)/.test(name) && !known.has(name),
  )
  if (unknown !== undefined) {
    const meant = nearestSetting(unknown, known)
    const suggested = meant === undefined ? '' : ` Did you mean ${meant}?`
    throw new ConfigError(
      `Unknown setting ${unknown}.${suggested} docs/config.md lists all settings`,
    )
  }
}

/** Compared without the prefix, which would make every short name similar. */
function nearestSetting(unknown: string, known: Iterable<string>): string | undefined {
  const prefix = 'KEYHOOK_'
  const names = Array.from(known, (name) => name.slice(prefix.length))
  const meant = nearest(unknown.slice(prefix.length), names)
  return meant === undefined ? undefined : prefix + meant
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** Whether several processes may share the store. */
export function usesPostgres({ databaseUrl }: Pick<Config, 'databaseUrl'>): boolean {
  return databaseUrl !== undefined && isPostgresUrl(databaseUrl)
}

/** The path of a SQLite database. */
export function databaseFile(config: Config): string {
  return resolve(config.databaseUrl ?? `${config.dataDir}/keyhook.db`)
}
