import type { Keyhook } from '../../../daemon/embed/index.ts'
import { keysFamily } from '../../../daemon/families/keys/family.ts'
import { DAEMON_ONLY } from '../../../daemon/embed/options.ts'
import { SETTINGS } from '../../../daemon/config/settings.ts'
import type { Declared } from './mutate.ts'

/** Text settings with values that would be used. */
const settings = {
  dataDir: 'never-made',
  masterKey: [`k1:${Buffer.alloc(32, 1).toString('base64')}`],
  eventTypes: ['order.paid'],
  scopes: { orders: ['read'] },
  webhookAllow: '127.0.0.1',
  rateReads: 10,
  logLevel: 'silent',
}

const EDITS = { contract: 'edits', name: 'none', create: () => ({ carryOut: () => undefined }) }

const facts = {
  code: 'bad',
  status: 400,
  message: 'No.',
  requestId: 'r',
  details: {},
  errors: [{ location: 'body', code: 'bad', message: 'No.' }],
}
const route = { id: 'keys.list', method: 'GET', path: '/v1/keys' }

const EMBEDDED = Object.keys(SETTINGS).filter((name) => !Object.hasOwn(DAEMON_ONLY, name))

/** A right call of each function of the entries that serve or call the API. */
export function daemonExports(keyhook: Keyhook, fetch: typeof globalThis.fetch) {
  return {
    './daemon#createKeyhook': {
      args: [
        {
          ...settings,
          database: 'never-made.sqlite',
          tablePrefix: 'x_',
          dispatch: false,
          families: [keysFamily],
          plugins: { edits: EDITS },
        },
      ],
      optional: [
        '0',
        ...[
          'database',
          'tablePrefix',
          'dispatch',
          'families',
          'plugins',
          'plugins.edits',
          ...EMBEDDED,
        ].map((name) => `0.${name}`),
      ],
      also: {
        '0.database': ['object'],
        '0.masterKey': ['string'],
        '0.masterKey.0': ['number'],
        '0.eventTypes': ['string'],
        '0.eventTypes.0': ['number'],
        '0.scopes': ['string'],
        '0.webhookAllow': ['list'],
        '0.rateReads': ['string'],
      },
      maps: ['0.scopes'],
      opaque: ['0.families.0', '0.plugins.edits'],
      codes: ['ConfigError'],
    },
    './daemon#ConfigError': {
      construct: true,
      args: ['message', { cause: 1 }],
      optional: ['1', '1.cause'],
      also: { '1.cause': ['any'] },
    },
    './koa#mount': {
      args: [keyhook, { prefix: '/developer', resolve: () => Promise.resolve(undefined) }],
      opaque: ['0'],
      optional: ['1', '1.prefix', '1.resolve'],
    },
    './koa#callback': {
      args: [keyhook, { prefix: '/developer', resolve: () => Promise.resolve(undefined) }],
      opaque: ['0'],
      optional: ['1', '1.prefix', '1.resolve'],
    },
    './client#createClient': {
      args: [
        {
          baseUrl: 'http://127.0.0.1:9',
          key: 'key',
          account: 'acct_1',
          timeout: 10,
          fetch,
          routes: [route],
        },
      ],
      optional: ['0.key', '0.account', '0.timeout', '0.fetch', '0.routes'],
      also: { '0.key': ['function'] },
      records: ['0.routes.0'],
    },
    './client#routesOf': {
      args: [keysFamily.operations],
      opaque: ['0.0'],
    },
    './client#ApiError': {
      construct: true,
      args: [facts],
      optional: ['0.requestId', '0.details', '0.errors', '0.cause'],
      maps: ['0.details'],
      empty: ['0.errors'],
      records: ['0.errors.0'],
    },
  } satisfies Record<string, Declared>
}

const OWN_WORK = { account_id: 'acct_1', operation_id: 'o_1' }
const PRICED = { operation: 'edits.create', quantity: 1, key_id: 'k' }

/** @param missing what may be missing, but for the operation */
function charging(work: object, missing: object): Declared {
  const names = Object.keys(missing).filter((name) => name !== 'operation')
  return {
    args: [work, { transaction: {} }],
    optional: ['1'],
    missing: [...names.map((name) => `0.${name}`), '1.transaction'],
    opaque: ['1.transaction'],
    codes: ['key_not_found'],
  }
}

/** A right call of each method of a Keyhook; `token` holds `orders:read` and is pinned to `app_1`. */
export function keyhookMethods(token: string): Readonly<Record<string, readonly Declared[]>> {
  const routes = { resolve: () => Promise.resolve(undefined) }
  return {
    'keys.verify': [
      { scopes: ['orders:read'] },
      { scope: 'orders:read' },
      { app: 'app_1' },
      { scope: null },
    ].map((requirement) => ({
      args: [token, requirement],
      also: { '1.scope': ['null', 'string'] },
      codes: ['missing_credentials', 'invalid_key'],
    })),
    'accounts.update': [
      {
        args: ['acct_1', { key_limit: 500, plan: 'pro' }],
        missing: ['1.key_limit', '1.plan'],
        also: { '1.key_limit': ['null'] },
      },
    ],
    'portal.link': [
      {
        args: ['acct_1', { scopes: ['keys:read'], expires_in: 60 }],
        optional: ['1'],
        missing: ['1.scopes', '1.expires_in'],
      },
    ],
    'portal.end': [{ args: ['acct_1'] }],
    'billing.quote': [charging({ account_id: 'acct_1', ...PRICED }, PRICED)],
    'billing.hold': [
      charging(
        { ...OWN_WORK, ...PRICED, lifetime_seconds: 60 },
        { ...PRICED, lifetime_seconds: 60 },
      ),
    ],
    'billing.capture': [charging({ ...OWN_WORK, quantity: 1 }, { quantity: 1 })],
    'billing.release': [charging(OWN_WORK, {})],
    'webhooks.publish': [
      {
        args: [
          {
            account_id: 'acct_1',
            type: 'order.paid',
            data: { n: 1 },
            app_id: 'app_1',
            id: 'evt_1',
          },
        ],
        optional: ['0.app_id', '0.id'],
        maps: ['0.data'],
        also: { '0.data.n': ['any'] },
      },
      {
        args: [{ account_id: 'acct_1', type: 'order.paid', data: {} }, { transaction: {} }],
        optional: ['1'],
        missing: ['1.transaction'],
        opaque: ['0.data', '1.transaction'],
      },
    ],
    as: [{ args: ['acct_1'] }],
    transaction: [{ args: [() => Promise.resolve()] }],
    callback: [
      {
        args: [{ prefix: '/developer', ...routes }],
        optional: ['0', '0.prefix', '0.resolve'],
      },
    ],
    koa: [
      { args: [{ prefix: '/developer', ...routes }], optional: ['0', '0.prefix', '0.resolve'] },
    ],
    fastify: [{ args: [routes], optional: ['0', '0.resolve'] }],
    web: [
      {
        args: [{ prefix: '/developer', ...routes, address: () => undefined }],
        optional: ['0', '0.prefix', '0.resolve', '0.address'],
      },
    ],
  }
}

/** They are handed to process.once, to frameworks and the like, which pass what they please. */
export const WITHOUT_ARGUMENTS: readonly string[] = [
  'dispatcher.start',
  'dispatcher.stop',
  'stop',
  'fetch',
]
