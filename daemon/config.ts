import { readFileSync } from 'node:fs'
import type { RetrySchedule } from '../lib/delivery/schedule.ts'
import { DEFAULT_SCHEDULE, parseSchedule } from '../lib/delivery/schedule.ts'
import type { AllowList } from '../lib/egress/allow-list.ts'
import { parseAllowList } from '../lib/egress/allow-list.ts'
import type { MasterKey } from '../lib/engine/keyring.ts'
import { parseMasterKeys } from '../lib/engine/keyring.ts'
import { SECOND } from '../lib/time.ts'
import { brandNames } from '../lib/webhook/headers.ts'
import type { Setting } from './setting.ts'
import { choiceSetting, integerSetting, optionalSetting, textSetting } from './setting.ts'

/** Every setting of the daemon. Each may also be given as `<NAME>_FILE`, the path of a file. */
export const SETTINGS = {
  host: textSetting({
    env: 'KEYHOOK_HOST',
    doc: 'Address the API listens on.',
    shown: '127.0.0.1',
    fallback: '127.0.0.1',
  }),
  port: integerSetting({
    env: 'KEYHOOK_PORT',
    doc: 'Port the API listens on; 0 takes a free one.',
    fallback: 8420,
    min: 0,
    max: 65_535,
  }),
  baseUrl: optionalSetting({
    env: 'KEYHOOK_BASE_URL',
    doc: 'Address that clients see. Its host is answered besides the listening address.',
    shown: 'http://KEYHOOK_HOST:KEYHOOK_PORT',
    parse: parseBaseUrl,
  }),
  dataDir: textSetting({
    env: 'KEYHOOK_DATA_DIR',
    doc: 'Folder of the database, the master key and the control socket. `serve` creates it.',
    shown: './keyhook-data',
    fallback: './keyhook-data',
  }),
  databaseUrl: optionalSetting({
    env: 'KEYHOOK_DATABASE_URL',
    doc: 'Where records are kept: sqlite:<file>.',
    shown: 'sqlite:<data folder>/keyhook.db',
    parse: parseDatabaseUrl,
  }),
  masterKey: optionalSetting<readonly MasterKey[]>({
    env: 'KEYHOOK_MASTER_KEY',
    doc: 'Keys that seal secrets at rest: id:base64[,id:base64] of 32 bytes each. The first encrypts.',
    shown: 'made at the first start, in <data folder>/master-key',
    secret: true,
    parse: parseMasterKeys,
  }),
  ownerEmail: optionalSetting({
    env: 'KEYHOOK_OWNER_EMAIL',
    doc: 'Creates the first user at start, with KEYHOOK_OWNER_PASSWORD, when there is none.',
    shown: 'a setup link is printed',
    parse: (text) => text,
  }),
  ownerPassword: optionalSetting({
    env: 'KEYHOOK_OWNER_PASSWORD',
    doc: 'Password of the first user: 12 to 128 characters.',
    shown: '',
    secret: true,
    parse: (text) => text,
  }),
  operatorToken: optionalSetting({
    env: 'KEYHOOK_OPERATOR_TOKEN',
    doc: 'Lets who bears it act for any account and read /metrics. 32 characters or more.',
    shown: 'no operator over HTTP',
    secret: true,
    parse: parseOperatorToken,
  }),
  brand: textSetting({
    env: 'KEYHOOK_BRAND',
    doc: 'Name in key prefixes and header names. Kept at the first start; another one is refused later.',
    shown: 'service',
    fallback: 'service',
    parse: parseBrand,
  }),
  webhookAllow: textAllowList(),
  disableFailures: integerSetting({
    env: 'KEYHOOK_WEBHOOK_DISABLE_FAILURES',
    doc: 'Failed attempts in a row after which a webhook is disabled, once the hours are reached too.',
    fallback: 20,
    min: 1,
    max: 100_000,
  }),
  disableHours: integerSetting({
    env: 'KEYHOOK_WEBHOOK_DISABLE_HOURS',
    doc: 'Hours since the first of those failures; 0 leaves the count alone.',
    fallback: 24,
    min: 0,
    max: 8760,
  }),
  retrySchedule: {
    env: 'KEYHOOK_WEBHOOK_RETRY_SCHEDULE',
    doc: 'Seconds between a failed attempt and the next, comma separated.',
    shown: DEFAULT_SCHEDULE.map((delay) => delay / SECOND).join(','),
    fallback: DEFAULT_SCHEDULE,
    parse: parseRetrySchedule,
  } satisfies Setting<RetrySchedule>,
  attemptTimeout: integerSetting({
    env: 'KEYHOOK_WEBHOOK_TIMEOUT_MS',
    doc: 'Milliseconds an attempt may take, DNS and connect included.',
    fallback: 10_000,
    min: 50,
    max: 60_000,
  }),
  concurrency: integerSetting({
    env: 'KEYHOOK_DISPATCH_CONCURRENCY',
    doc: 'Deliveries under way at once.',
    fallback: 256,
    min: 1,
    max: 10_000,
  }),
  webhookConcurrency: integerSetting({
    env: 'KEYHOOK_WEBHOOK_CONCURRENCY',
    doc: 'Deliveries under way at once to one webhook.',
    fallback: 64,
    min: 1,
    max: 1000,
  }),
  rateReads: integerSetting({
    env: 'KEYHOOK_RATE_READS',
    doc: 'Reads a minute and caller; 0 is no limit.',
    fallback: 600,
    min: 0,
    max: 1_000_000,
  }),
  rateWrites: integerSetting({
    env: 'KEYHOOK_RATE_WRITES',
    doc: 'Changes a minute and caller; 0 is no limit. Publishing events is not counted.',
    fallback: 120,
    min: 0,
    max: 1_000_000,
  }),
  logLevel: choiceSetting({
    env: 'KEYHOOK_LOG_LEVEL',
    doc: 'How much is logged, as JSON lines on standard error: debug, info, warn, error or silent.',
    fallback: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
  }),
} as const

type Settings = typeof SETTINGS

/** The configuration: each setting parsed. */
export type Config = {
  readonly [Name in keyof Settings]: Settings[Name] extends Setting<infer T> ? T : never
} & { readonly dev: boolean }

export function rateLimitsOf(config: Config): { readonly reads: number; readonly writes: number } {
  return { reads: config.rateReads, writes: config.rateWrites }
}

/** A setting that cannot be used, with the whole name of it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** What `--dev` sets where the environment says nothing: receivers on this machine, quick retries. */
const DEV_DEFAULTS: Readonly<Record<string, string>> = {
  KEYHOOK_WEBHOOK_ALLOW: '127.0.0.0/8,::1/128,localhost',
  KEYHOOK_WEBHOOK_RETRY_SCHEDULE: '1,2,4',
  KEYHOOK_WEBHOOK_DISABLE_FAILURES: '3',
  KEYHOOK_WEBHOOK_DISABLE_HOURS: '0',
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

/**
 * Reads the configuration from the environment.
 *
 * @throws ConfigError naming the setting, the remedy, and a `KEYHOOK_` name that does not exist
 */
export function readConfig(env: Readonly<NodeJS.ProcessEnv>, dev = false): Config {
  refuseUnknown(env)
  const given = dev ? { ...DEV_DEFAULTS, ...env } : env
  const entries = Object.entries(SETTINGS).map(([name, setting]) => [
    name,
    read(setting as Setting<unknown>, given),
  ])
  const config = { ...Object.fromEntries(entries), dev } as Config
  if (dev && !LOOPBACK.has(config.host)) {
    throw new ConfigError(
      'KEYHOOK_HOST must be a loopback address with --dev, which lets webhooks reach this machine',
    )
  }
  return config
}

function read<T>(setting: Setting<T>, env: Readonly<NodeJS.ProcessEnv>): T {
  const text = readText(setting.env, env)
  if (text === undefined) return setting.fallback
  try {
    return setting.parse(text)
  } catch (cause) {
    throw new ConfigError(`${setting.env} ${messageOf(cause)}`, { cause })
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
    throw new ConfigError(`${unknown} is no setting of this version. docs/config.md lists them all`)
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

function parseBaseUrl(text: string): string {
  const url = URL.parse(text)
  const plain = url !== null && url.username === '' && url.search === '' && url.hash === ''
  if (!plain || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error('must be an http or https address without credentials, query or fragment')
  }
  return url.href.replace(/\/$/, '')
}

function parseDatabaseUrl(text: string): string {
  const [, file] = /^sqlite:(?:\/\/)?(.+)$/.exec(text) ?? []
  if (file === undefined) throw new Error('must be sqlite:<file>')
  if (file === ':memory:') throw new Error('must be a file: a database in memory loses every event')
  return file
}

function parseOperatorToken(text: string): string {
  if (!/^[\x21-\x7e]{32,512}$/.test(text)) {
    throw new Error('must be 32 to 512 printable characters without spaces')
  }
  if (/^[a-z][a-z0-9]*_dk_/.test(text)) {
    throw new Error('must not begin as a developer key does, or it would be read as one')
  }
  return text
}

function parseBrand(text: string): string {
  brandNames(text)
  return text
}

function parseRetrySchedule(text: string): RetrySchedule {
  try {
    return parseSchedule(text)
  } catch (cause) {
    throw new Error('must be 1 to 20 delays in whole seconds, each from 0 to 604800', { cause })
  }
}

function textAllowList(): Setting<AllowList> {
  return {
    env: 'KEYHOOK_WEBHOOK_ALLOW',
    doc: 'Private targets that webhooks may reach: CIDRs or exact hosts, each with an optional :port.',
    shown: 'none',
    fallback: parseAllowList(''),
    parse: parseAllowList,
  }
}
