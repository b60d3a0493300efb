import { DEFAULT_SCHEDULE } from '../lib/delivery/schedule.ts'
import type { RetrySchedule } from '../lib/delivery/schedule.ts'
import type { Cidr } from '../lib/egress/address.ts'
import type { AllowList } from '../lib/egress/allow-list.ts'
import { parseAllowList } from '../lib/egress/allow-list.ts'
import { LEASE_MARGIN } from '../lib/engine/engine.ts'
import type { MasterKey } from '../lib/engine/keyring.ts'
import { parseMasterKeys } from '../lib/engine/keyring.ts'
import { SECOND } from '../lib/time.ts'
import type { Setting } from './setting.ts'
import { choiceSetting, integerSetting, optionalSetting, textSetting } from './setting.ts'
import {
  parseBaseUrl,
  parseBlocks,
  parseBrand,
  parseDatabaseUrl,
  parseEventTypes,
  parseModelKey,
  parseModelUrl,
  parseOperatorToken,
  parseRetrySchedule,
  parseScopeFamilies,
} from './setting-values.ts'

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
    doc: 'Where records are kept: sqlite:<file> or postgres://<user>:<password>@<host>/<database>.',
    shown: 'sqlite:<data folder>/keyhook.db',
    secret: true,
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
  scopes: {
    env: 'KEYHOOK_SCOPES',
    doc: 'Scope families of your own, beside those of the service: orders:read|write,invoices:read.',
    shown: 'none',
    fallback: {},
    parse: parseScopeFamilies,
  } satisfies Setting<Readonly<Record<string, readonly string[]>>>,
  eventTypes: {
    env: 'KEYHOOK_EVENT_TYPES',
    doc: 'Event types that every account may publish and name, comma separated: order.paid,order.shipped.',
    shown: 'none',
    fallback: [],
    parse: parseEventTypes,
  } satisfies Setting<readonly string[]>,
  appIds: choiceSetting({
    env: 'KEYHOOK_APP_IDS',
    doc: 'Which apps keys are pinned to: own, the apps of this service, or any, ids of a backend beside it.',
    fallback: 'own',
    choices: ['own', 'any'],
  }),
  workLease: integerSetting({
    env: 'KEYHOOK_WORK_LEASE',
    doc: 'Seconds without a sign of life after which an edit or a file is taken from the daemon that has it.',
    fallback: 60,
    min: 1,
    max: 3600,
  }),
  filesPlugin: textSetting({
    env: 'KEYHOOK_FILES_PLUGIN',
    doc: 'What reads knowledge files: built-in, or the package or path of a module with createFileProcessor.',
    shown: 'built-in',
    fallback: 'built-in',
  }),
  webhookAllow: {
    env: 'KEYHOOK_WEBHOOK_ALLOW',
    doc: 'Private targets that webhooks may reach: CIDRs or exact hosts, each with an optional :port.',
    shown: 'none',
    fallback: parseAllowList(''),
    parse: parseAllowList,
  } satisfies Setting<AllowList>,
  webhookDisableFailures: integerSetting({
    env: 'KEYHOOK_WEBHOOK_DISABLE_FAILURES',
    doc: 'Failed attempts in a row after which a webhook is disabled, once the hours are reached too.',
    fallback: 20,
    min: 1,
    max: 100_000,
  }),
  webhookDisableHours: integerSetting({
    env: 'KEYHOOK_WEBHOOK_DISABLE_HOURS',
    doc: 'Hours since the first of those failures; 0 leaves the count alone.',
    fallback: 24,
    min: 0,
    max: 8760,
  }),
  webhookRetrySchedule: {
    env: 'KEYHOOK_WEBHOOK_RETRY_SCHEDULE',
    doc: 'Seconds between a failed attempt and the next, comma separated.',
    shown: DEFAULT_SCHEDULE.map((delay) => delay / SECOND).join(','),
    fallback: DEFAULT_SCHEDULE,
    parse: parseRetrySchedule,
  } satisfies Setting<RetrySchedule>,
  webhookTimeoutMs: integerSetting({
    env: 'KEYHOOK_WEBHOOK_TIMEOUT_MS',
    doc: 'Milliseconds an attempt may take, DNS and connect included.',
    fallback: 10_000,
    min: 50,
    max: 60_000,
  }),
  webhookLeaseMarginMs: integerSetting({
    env: 'KEYHOOK_WEBHOOK_LEASE_MARGIN_MS',
    doc: 'Milliseconds beyond that in which an outcome is recorded; then another daemon may take over.',
    fallback: LEASE_MARGIN,
    min: 1000,
    max: 600_000,
  }),
  llmBaseUrl: optionalSetting({
    env: 'KEYHOOK_LLM_BASE_URL',
    doc: 'Where the API of a language model begins, spoken as OpenAI does: http://127.0.0.1:11434/v1.',
    shown: 'none: edits by prompt are refused',
    parse: parseModelUrl,
  }),
  llmApiKey: optionalSetting({
    env: 'KEYHOOK_LLM_API_KEY',
    doc: 'Sent to that server as a bearer token.',
    shown: 'none',
    secret: true,
    parse: parseModelKey,
  }),
  llmModel: optionalSetting({
    env: 'KEYHOOK_LLM_MODEL',
    doc: 'The model of that server which carries out prompts that name none.',
    shown: 'none; needed with KEYHOOK_LLM_BASE_URL',
    parse: (text) => text,
  }),
  dispatchConcurrency: integerSetting({
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
  retentionDays: integerSetting({
    env: 'KEYHOOK_RETENTION_DAYS',
    doc: 'Days that events, their deliveries and attempts are kept; 0 keeps them for ever.',
    fallback: 30,
    min: 0,
    max: 36_500,
  }),
  auditDays: integerSetting({
    env: 'KEYHOOK_AUDIT_DAYS',
    doc: 'Days that the audit log is kept; 0 keeps it for ever.',
    fallback: 365,
    min: 0,
    max: 36_500,
  }),
  stopDelay: integerSetting({
    env: 'KEYHOOK_STOP_DELAY',
    doc: 'Seconds that /readyz answers 503 before a daemon that is told to stop closes its listener.',
    fallback: 0,
    min: 0,
    max: 300,
  }),
  trustedProxies: {
    env: 'KEYHOOK_TRUSTED_PROXIES',
    doc: 'Addresses or CIDRs of proxies in front, whose X-Forwarded-For is believed.',
    shown: 'none',
    fallback: [],
    parse: parseBlocks,
  } satisfies Setting<readonly Cidr[]>,
  logLevel: choiceSetting({
    env: 'KEYHOOK_LOG_LEVEL',
    doc: 'How much is logged, as JSON lines on standard error: debug, info, warn, error or silent.',
    fallback: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
  }),
} as const
