import { DEFAULT_SCHEDULE } from '../../lib/delivery/schedule.ts'
import type { RetrySchedule } from '../../lib/delivery/schedule.ts'
import type { Cidr } from '../../lib/egress/address.ts'
import type { AllowList } from '../../lib/egress/allow-list.ts'
import { parseAllowList } from '../../lib/egress/allow-list.ts'
import { LEASE_MARGIN } from '../../lib/engine/ports.ts'
import type { MasterKey } from '../../lib/engine/keyring.ts'
import { MAX_KEY_LIMIT } from '../../lib/key/lifecycle.ts'
import { SECOND } from '../../lib/time.ts'
import type { DeclaredDestinations } from '../../plugins/destinations/contract/addresses.ts'
import { parseDestinations } from '../../plugins/destinations/contract/addresses.ts'
import { BILLING_SETTINGS } from './billing-settings.ts'
import { LOG_SETTINGS } from './log-settings.ts'
import { MODEL_SETTINGS } from './model-settings.ts'
import type { Setting } from './setting.ts'
import { choiceSetting, integerSetting, optionalSetting, textSetting } from './setting.ts'
import {
  parseAppsUrl,
  parseBaseUrl,
  parseBlocks,
  parseBrand,
  parseColor,
  parseDatabaseUrl,
  parseDomain,
  parseEventTypes,
  parseNameServers,
  parseOperatorToken,
  parseOwnerEmail,
  parseOwnerPassword,
  parsePlugin,
  parsePlugins,
  parsePort,
  parseRate,
  parseRemoteKey,
  parseRemoteUrl,
  parseRetrySchedule,
  parseScopeFamilies,
  readMasterKeys,
} from './values.ts'

/** One plugin of a contract. */
function pluginSetting(env: string, what: string, shown: string): Setting<readonly string[]> {
  const doc = `${what}: the package or the absolute path of a plugin.`
  return { env, doc, shown, fallback: [], parse: parsePlugin }
}

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
    doc: 'Port the API listens on; 0 for a free one.',
    fallback: 8420,
    min: 0,
    max: 65_535,
  }),
  baseUrl: optionalSetting({
    env: 'KEYHOOK_BASE_URL',
    doc: 'Public address of the API. Its host is accepted in addition to the listening address.',
    shown: 'http://KEYHOOK_HOST:KEYHOOK_PORT',
    parse: parseBaseUrl,
  }),
  connections: integerSetting({
    env: 'KEYHOOK_CONNECTIONS',
    doc: 'Maximum open connections to the API; lowered to fit the limit of open files.',
    fallback: 10_000,
    min: 1,
    max: 1_000_000,
  }),
  networkConnections: integerSetting({
    env: 'KEYHOOK_NETWORK_CONNECTIONS',
    doc: 'Maximum connections of one network (IPv4 address or IPv6 /64); behind a trusted proxy, requests in progress.',
    fallback: 256,
    min: 1,
    max: 1_000_000,
  }),
  apps: choiceSetting({
    env: 'KEYHOOK_APPS',
    doc: 'Whether this daemon serves published apps: on or off.',
    fallback: 'on',
    choices: ['on', 'off'],
  }),
  appsHost: optionalSetting({
    env: 'KEYHOOK_APPS_HOST',
    doc: 'Address the listener of apps listens on.',
    shown: 'KEYHOOK_HOST',
    parse: (text) => text,
  }),
  appsPort: optionalSetting({
    env: 'KEYHOOK_APPS_PORT',
    doc: 'Port the listener of apps listens on; 0 for a free one.',
    shown: '8421; a free one where KEYHOOK_PORT is 0',
    parse: parsePort,
  }),
  appsDomain: optionalSetting({
    env: 'KEYHOOK_APPS_DOMAIN',
    doc: "Parent domain of the apps' names; must differ from that of KEYHOOK_BASE_URL.",
    shown: 'that of KEYHOOK_APPS_URL, else localhost',
    parse: parseDomain,
  }),
  appsUrl: optionalSetting({
    env: 'KEYHOOK_APPS_URL',
    doc: 'Public address of that domain behind a proxy, such as https://apps.example.net.',
    shown: 'http://KEYHOOK_APPS_DOMAIN:KEYHOOK_APPS_PORT',
    parse: parseAppsUrl,
  }),
  appsConnections: integerSetting({
    env: 'KEYHOOK_APPS_CONNECTIONS',
    doc: 'Maximum open connections to apps; lowered to fit the limit of open files.',
    fallback: 10_000,
    min: 1,
    max: 1_000_000,
  }),
  appsNetworkConnections: integerSetting({
    env: 'KEYHOOK_APPS_NETWORK_CONNECTIONS',
    doc: 'Maximum connections of one network (IPv4 address or IPv6 /64); behind a trusted proxy, requests in progress.',
    fallback: 256,
    min: 1,
    max: 1_000_000,
  }),
  dataDir: textSetting({
    env: 'KEYHOOK_DATA_DIR',
    doc: 'Folder of the database, the master key and the control socket. `serve` creates it.',
    shown: './keyhook-data',
    fallback: './keyhook-data',
  }),
  databaseUrl: optionalSetting({
    env: 'KEYHOOK_DATABASE_URL',
    doc: 'Database: sqlite:<file> or postgres://<user>:<password>@<host>/<database>.',
    shown: 'sqlite:<data folder>/keyhook.db',
    secret: true,
    parse: parseDatabaseUrl,
  }),
  outboxUrl: optionalSetting({
    env: 'KEYHOOK_OUTBOX_URL',
    doc: "Your backend's own database with its outbox, the table keyhook_outbox: sqlite:<file> or postgres://<user>:<password>@<host>/<database>.",
    shown: 'none',
    secret: true,
    parse: parseDatabaseUrl,
  }),
  masterKey: optionalSetting<readonly MasterKey[]>({
    env: 'KEYHOOK_MASTER_KEY',
    doc: 'Keys that encrypt secrets at rest: id:base64[,id:base64], 32 bytes each. The first encrypts.',
    shown: 'created at the first start, in <data folder>/master-key',
    secret: true,
    parse: readMasterKeys,
  }),
  ownerEmail: optionalSetting({
    env: 'KEYHOOK_OWNER_EMAIL',
    doc: 'Email address of the first user, created at start with KEYHOOK_OWNER_PASSWORD when there is none.',
    shown: 'a setup link is printed',
    parse: parseOwnerEmail,
  }),
  ownerPassword: optionalSetting({
    env: 'KEYHOOK_OWNER_PASSWORD',
    doc: 'Password of the first user: 12 to 128 characters.',
    shown: '',
    secret: true,
    parse: parseOwnerPassword,
  }),
  url: optionalSetting({
    env: 'KEYHOOK_URL',
    doc: 'Address of a daemon elsewhere, which commands of the command line then reach instead of the one of this machine.',
    shown: 'the daemon of KEYHOOK_DATA_DIR',
    parse: parseRemoteUrl,
  }),
  key: optionalSetting({
    env: 'KEYHOOK_KEY',
    doc: 'Developer key or operator token with which commands reach KEYHOOK_URL.',
    shown: 'none',
    secret: true,
    parse: parseRemoteKey,
  }),
  operatorToken: optionalSetting({
    env: 'KEYHOOK_OPERATOR_TOKEN',
    doc: 'Token of the operator, who acts for any account and reads /metrics. At least 32 characters.',
    shown: 'no operator over HTTP',
    secret: true,
    parse: parseOperatorToken,
  }),
  brand: textSetting({
    env: 'KEYHOOK_BRAND',
    doc: 'Name in key prefixes and header names. Stored at the first start; later changes are refused.',
    shown: 'service',
    fallback: 'service',
    parse: parseBrand,
  }),
  brandColor: textSetting({
    env: 'KEYHOOK_BRAND_COLOR',
    doc: 'Accent colour of Studio, such as #0a7d5a; made darker or paler where it could not be read.',
    shown: '#3b5bdb',
    fallback: '#3b5bdb',
    parse: parseColor,
  }),
  scopes: {
    env: 'KEYHOOK_SCOPES',
    doc: 'Your own scope families, such as orders:read|write,invoices:read.',
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
    doc: 'Apps that keys can be pinned to: own, apps of this service, or any, ids of a backend.',
    fallback: 'own',
    choices: ['own', 'any'],
  }),
  keyLimit: integerSetting({
    env: 'KEYHOOK_KEY_LIMIT',
    doc: 'Maximum live keys of an account without a key_limit of its own.',
    fallback: 100,
    min: 1,
    max: MAX_KEY_LIMIT,
  }),
  workLease: integerSetting({
    env: 'KEYHOOK_WORK_LEASE',
    doc: 'Seconds without a heartbeat after which another daemon takes over an edit, a file, a deployment, or an event of the payment processor.',
    fallback: 60,
    min: 1,
    max: 3600,
  }),
  dnsServers: {
    env: 'KEYHOOK_DNS_SERVERS',
    doc: 'Name servers for checks of domains: addresses, each with an optional :port.',
    shown: 'those of the system',
    fallback: [],
    parse: parseNameServers,
  } satisfies Setting<readonly string[]>,
  appsPlugin: pluginSetting(
    'KEYHOOK_APPS_PLUGIN',
    'Storage of the files of apps',
    'the data folder, or the database of several daemons',
  ),
  editsPlugin: pluginSetting(
    'KEYHOOK_EDITS_PLUGIN',
    'Editor that carries out prompts',
    'KEYHOOK_LLM_BASE_URL',
  ),
  filesPlugin: {
    env: 'KEYHOOK_FILES_PLUGIN',
    doc: 'Readers of knowledge files before the built-in ones: packages or absolute paths of plugins, comma separated.',
    shown: 'the built-in readers alone',
    fallback: [],
    parse: parsePlugins,
  } satisfies Setting<readonly string[]>,
  familiesPlugin: {
    env: 'KEYHOOK_FAMILIES_PLUGIN',
    doc: 'Families of the API besides the built-in ones: packages or absolute paths of modules, comma separated.',
    shown: 'the built-in families alone',
    fallback: [],
    parse: parsePlugins,
  } satisfies Setting<readonly string[]>,
  deployPlugin: pluginSetting(
    'KEYHOOK_DEPLOY_PLUGIN',
    'Deployer that builds releases',
    'the daemon serves them',
  ),
  embeddingsPlugin: pluginSetting(
    'KEYHOOK_EMBEDDINGS_PLUGIN',
    'Embedder that computes vectors of texts',
    'KEYHOOK_EMBEDDINGS_MODEL',
  ),
  destinationsPlugin: {
    env: 'KEYHOOK_DESTINATIONS_PLUGIN',
    doc: 'Destinations of webhooks besides https: packages or absolute paths of plugins, comma separated.',
    shown: 'none',
    fallback: [],
    parse: parsePlugins,
  } satisfies Setting<readonly string[]>,
  destinations: {
    env: 'KEYHOOK_DESTINATIONS',
    doc: 'Destinations of webhooks in RabbitMQ and Redis: <name>=<address>, comma separated, such as orders=amqp://<user>:<password>@<host>/<vhost>?queue=orders,audit=redis://<host>?stream=audit.',
    shown: 'none',
    secret: true,
    fallback: parseDestinations(''),
    parse: parseDestinations,
  } satisfies Setting<DeclaredDestinations>,
  webhookAllow: {
    env: 'KEYHOOK_WEBHOOK_ALLOW',
    doc: 'Permitted private targets of webhooks: CIDRs or exact hosts, each with an optional :port.',
    shown: 'none',
    fallback: parseAllowList(''),
    parse: parseAllowList,
  } satisfies Setting<AllowList>,
  webhookDisableFailures: integerSetting({
    env: 'KEYHOOK_WEBHOOK_DISABLE_FAILURES',
    doc: 'Consecutive failed attempts that disable a webhook, together with the hours.',
    fallback: 20,
    min: 1,
    max: 100_000,
  }),
  webhookDisableHours: integerSetting({
    env: 'KEYHOOK_WEBHOOK_DISABLE_HOURS',
    doc: 'Hours since the first of those failures; with 0 only the count applies.',
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
    doc: 'Timeout of an attempt in milliseconds, DNS and connect included.',
    fallback: 10_000,
    min: 50,
    max: 60_000,
  }),
  webhookLeaseMarginMs: integerSetting({
    env: 'KEYHOOK_WEBHOOK_LEASE_MARGIN_MS',
    doc: 'Milliseconds after the timeout to record an outcome; then another daemon may take over.',
    fallback: LEASE_MARGIN,
    min: 1000,
    max: 600_000,
  }),
  webhookStandardHeaders: choiceSetting({
    env: 'KEYHOOK_WEBHOOK_STANDARD_HEADERS',
    doc: 'Default for new webhooks: whether to send the headers of Standard Webhooks, on or off.',
    fallback: 'off',
    choices: ['on', 'off'],
  }),
  ...MODEL_SETTINGS,
  ...BILLING_SETTINGS,
  dispatchConcurrency: integerSetting({
    env: 'KEYHOOK_DISPATCH_CONCURRENCY',
    doc: 'Maximum concurrent deliveries; up to 32 times as many connections are open.',
    fallback: 256,
    min: 1,
    max: 10_000,
  }),
  webhookConcurrency: integerSetting({
    env: 'KEYHOOK_WEBHOOK_CONCURRENCY',
    doc: 'Maximum concurrent deliveries to one webhook.',
    fallback: 64,
    min: 1,
    max: 1000,
  }),
  rateReads: integerSetting({
    env: 'KEYHOOK_RATE_READS',
    doc: 'Reads per minute of one caller: a key, a user, or an anonymous network; 0 for no limit.',
    fallback: 600,
    min: 0,
    max: 1_000_000,
  }),
  rateWrites: integerSetting({
    env: 'KEYHOOK_RATE_WRITES',
    doc: 'Writes per minute of one caller, plus one for each further MiB of a body; 0 for no limit. Publishing counts only these MiB; refused publishing has a limit of its own, as large.',
    fallback: 120,
    min: 0,
    max: 1_000_000,
  }),
  rateAccountReads: optionalSetting({
    env: 'KEYHOOK_RATE_ACCOUNT_READS',
    doc: 'Reads per minute of all keys and users of an account; 0 for no limit.',
    shown: 'KEYHOOK_RATE_READS',
    parse: parseRate,
  }),
  rateAccountWrites: optionalSetting({
    env: 'KEYHOOK_RATE_ACCOUNT_WRITES',
    doc: 'Writes per minute of all keys and users of an account; 0 for no limit.',
    shown: 'KEYHOOK_RATE_WRITES',
    parse: parseRate,
  }),
  retentionDays: integerSetting({
    env: 'KEYHOOK_RETENTION_DAYS',
    doc: 'Retention of events, deliveries and attempts in days; 0 for no limit.',
    fallback: 30,
    min: 0,
    max: 36_500,
  }),
  auditDays: integerSetting({
    env: 'KEYHOOK_AUDIT_DAYS',
    doc: 'Retention of the audit log in days; 0 for no limit.',
    fallback: 365,
    min: 0,
    max: 36_500,
  }),
  accessDays: integerSetting({
    env: 'KEYHOOK_ACCESS_DAYS',
    doc: 'Retention of request logs of apps in days.',
    fallback: 7,
    min: 1,
    max: 90,
  }),
  stopDelay: integerSetting({
    env: 'KEYHOOK_STOP_DELAY',
    doc: 'Seconds that /readyz answers 503 before a stopping daemon closes its listener.',
    fallback: 0,
    min: 0,
    max: 300,
  }),
  trustedProxies: {
    env: 'KEYHOOK_TRUSTED_PROXIES',
    doc: 'Addresses or CIDRs of trusted proxies, whose X-Forwarded-For is used.',
    shown: 'none',
    fallback: [],
    parse: parseBlocks,
  } satisfies Setting<readonly Cidr[]>,
  tracing: choiceSetting({
    env: 'KEYHOOK_TRACING',
    doc: 'Whether spans are made for OpenTelemetry: on or off. A daemon also makes them where OTEL_ settings ask for it.',
    fallback: 'off',
    choices: ['off', 'on'],
  }),
  ...LOG_SETTINGS,
} as const
