import type { RequestListener } from 'node:http'
import type { VerifiedKey } from '../../lib/engine/verifier.ts'
import { kernelError } from '../../lib/errors.ts'
import type { Route } from '../client/index.ts'
import { ROUTES, createClient, routesOf } from '../client/index.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, rateLimitsOf } from '../config/config.ts'
import type { Family } from '../operations/family.ts'
import { recordsOf } from '../operations/family.ts'
import { errorRows } from '../families/index.ts'
import { explainInvalid, requireNeed } from '../families/keys/need.ts'
import { createApp } from '../http/app.ts'
import { DONE_PAGE, documents } from '../http/documents.ts'
import { createEmbeddedResolver, inProcessResolver } from '../http/resolve.ts'
import type { PrincipalResolver } from '../http/state.ts'
import { openInOrder } from '../composition/closers.ts'
import type { Opened } from '../composition/open.ts'
import { openPlatform } from '../composition/open.ts'
import { requireInstalled } from '../composition/packages.ts'
import type { GivenProcessor } from '../composition/processor.ts'
import type { PaymentProcessorPlugin } from '../../plugins/billing/contract.ts'
import { apiPages } from '../openapi/pages.ts'
import type { Log } from '../telemetry/log.ts'
import { createLog } from '../telemetry/log.ts'
import { joinTelemetry } from '../telemetry/sdk.ts'
import type { ProcessTracing } from '../telemetry/tracing.ts'
import { ownVersion } from '../machine/own-version.ts'
import { servePortal } from '../studio/serve.ts'
import { createUpdateAccount } from './accounts.ts'
import { createEmbeddedBilling } from './billing.ts'
import type { ServedFamily } from './families.ts'
import { servedFamilies, servesApps } from './families.ts'
import { openHosting } from './hosting.ts'
import { createNeeds } from './need.ts'
import { fetchFrom } from './in-process.ts'
import {
  nothingRequired,
  readAccount,
  readKeyhookOptions,
  readRequirement,
  readRoutes,
  readSignedIn,
  readWork,
} from './arguments.ts'
import type { Keyhook, KeyhookOptions, ScopeFamilies, ScopeOf, TypedOptions } from './keyhook.ts'
import { inCode, readGiven } from './options.ts'
import { readPlugins, readProcessor } from './plugins.ts'
import { createEmbeddedPortal } from './portal.ts'
import { openStorage } from './storage.ts'
import { createPublish } from './publish.ts'
import type { Callback, RouteOptions, SignedIn } from './routes.ts'
import { callbackOf, fastifyOf, koaOf, toPrincipal } from './routes.ts'
import { createTransactions } from './transactions.ts'
import type { WebHandler, WebOptions } from './web/handler.ts'
import { givenOf, webOf } from './web/handler.ts'

export { ConfigError } from '../config/config.ts'
export type { AccountChanges, AccountSettings } from './accounts.ts'
export type {
  EmbeddedBilling,
  InTransaction,
  OwnWork,
  WorkToCapture,
  WorkToHold,
  WorkToQuote,
} from './billing.ts'
export type { PlatformFamily, ServedFamily } from './families.ts'
export type { LinkOptions, PortalLink } from './portal.ts'
export type { PriceQuote } from '../billing/quote.ts'
export type { Requirement } from '../families/keys/need.ts'
export type { Keyhook, KeyhookOptions, ScopeFamilies, ScopeOf, TypedOptions } from './keyhook.ts'
export type { EventToPublish, Published } from './publish.ts'
export type { ChosenPlugins, GivenOptions, PluginChoice } from './plugins.ts'
export type { RouteOptions, SignedIn } from './routes.ts'
export type { WebHandler, WebOptions } from './web/handler.ts'

/**
 * Opens Keyhook in this process, over your database or its own.
 *
 * Settings are those of docs/config.md in camel case: `KEYHOOK_MASTER_KEY` is `masterKey`. Nothing is read
 * from the environment.
 *
 * @throws TypeError for an option of another name or type, or that only the daemon has; ConfigError naming
 *   the setting that cannot be used, as it was given
 * @example
 * const keyhook = await createKeyhook({ database: sequelize, masterKey, baseUrl: 'http://127.0.0.1:3000' })
 * createServer(keyhook.callback()).listen(3000, '127.0.0.1')
 */
export async function createKeyhook<
  const Type extends string = string,
  const Families extends ScopeFamilies = ScopeFamilies,
  const Asked extends ServedFamily = never,
>(
  ...args: readonly [options?: TypedOptions<Type, Families, Asked>]
): Promise<Keyhook<Type, ScopeOf<Families, Asked>, Asked>> {
  const [options = {}] = readKeyhookOptions(args) as readonly [KeyhookOptions?]
  try {
    return (await open(options)) as Keyhook<Type, ScopeOf<Families, Asked>, Asked>
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    throw new ConfigError(inCode(cause.message), { cause: cause.cause })
  }
}

async function open(options: KeyhookOptions): Promise<Keyhook> {
  const { database, tablePrefix, dispatch = true, families = [], plugins = {}, ...given } = options
  const processor = readProcessor(plugins)
  const extensions = readPlugins(plugins)
  const config = withProcessor(readGiven(given), processor)
  await requireInstalled({
    config: processor === undefined ? config : { ...config, billing: 'none' },
    database: database ?? config.databaseUrl,
    holdsFolder: database === undefined,
    replaced: extensions.replaced,
    telemetry: config.tracing === 'on' ? 'joined' : 'none',
  })
  const log = createLog(config.logLevel)
  const telemetry = config.tracing === 'on' ? await joinTelemetry(ownVersion()) : undefined
  const served = await servedFamilies(families, config)
  const hasApps = servesApps(families)
  const opened = await openInOrder(async (closers) => {
    const hosting = await openHosting(config, hasApps)
    closers.push(() => hosting.stop())
    const opened = await openPlatform({
      config,
      log,
      families: served,
      knows: 'served families',
      async openStorage(inspect) {
        const storage = await openStorage(
          config,
          database,
          {
            ...(tablePrefix === undefined ? {} : { tablePrefix }),
            records: recordsOf(served),
            apps: hasApps && !extensions.replaced.has('apps'),
          },
          inspect,
        )
        if (isUnnamed(options)) {
          // A misspelt database variable must not go unnoticed.
          process.emitWarning(
            `createKeyhook: neither database nor dataDir is given: records are kept in ${storage.folder}`,
          )
        }
        return storage
      },
      appsHosting: hosting.appsHosting,
      baseUrl: config.baseUrl ?? `http://${config.host}:${config.port}`,
      // Its API does not listen: only the embedder knows the addresses of its server.
      ownHosts: [],
      extensions,
      processor,
      telemetry,
    })
    closers.push(() => opened.close())
    const work = await opened.start({ dispatch, billing: true })
    hosting.start(opened, work, config, log)
    // Visitors leave before what serves them is closed.
    closers.push(() => hosting.stop())
    return opened
  })
  return assemble(opened, { config, log, served, database, tracing: telemetry?.tracing })
}

function isUnnamed({ database, dataDir, databaseUrl }: KeyhookOptions): boolean {
  return database === undefined && dataDir === undefined && databaseUrl === undefined
}

/**
 * The payment processor names the mode of billing.
 *
 * @throws TypeError for another mode beside it
 */
function withProcessor(config: Config, processor: GivenProcessor | undefined): Config {
  if (processor === undefined) return config
  const { name } = processor.plugin as PaymentProcessorPlugin
  if (config.billing === 'none' || config.billing === name) return { ...config, billing: name }
  throw new TypeError(
    `createKeyhook: options.billing is ${config.billing}, and plugins.billing ${name}`,
  )
}

interface Setting {
  readonly config: Config
  readonly log: Log
  readonly served: readonly Family[]
  readonly database: unknown
  readonly tracing: ProcessTracing | undefined
}

function assemble(opened: Opened, { config, log, served, database, tracing }: Setting): Keyhook {
  const { platform, metrics, traffic } = opened
  const { verifier, universe, engine, store } = platform
  const toNeed = createNeeds(universe)
  const transactions = createTransactions(store, database)
  const billing = createEmbeddedBilling(platform, transactions)
  const portal = createEmbeddedPortal(platform)
  const pages = documents({
    ...apiPages(served, errorRows(served), platform.baseUrl),
    ...DONE_PAGE,
  })
  const { brand, brandColor: color, portalFrameAncestors: frameAncestors } = config
  const portalPage = servePortal({ brand, color, baseUrl: platform.baseUrl, frameAncestors })
  const routes = routesFor(served)
  let isWarned = config.baseUrl !== undefined

  function handlerFor(resolve: PrincipalResolver, limited: boolean): RequestListener {
    const handler = createApp({
      platform,
      families: served,
      resolve,
      rateLimits: limited ? rateLimitsOf(config) : { reads: 0, writes: 0 },
      trustedProxies: config.trustedProxies,
      traffic,
      // The embedder's own server decides which hosts it accepts.
      hosts: undefined,
      operatorToken: config.operatorToken,
      pages: [pages, portalPage],
      log,
      logRequests: config.logRequests,
      metrics,
      tracing,
      leaving: new AbortController().signal,
    }).callback()
    return (request, response) => void handler(request, response)
  }

  /** Without an address, links and the check of a browser's Origin are wrong, and nothing else reports it. */
  function warnOfAddress(): void {
    if (isWarned) return
    isWarned = true
    process.emitWarning(
      `createKeyhook: routes are mounted and baseUrl is not given: links begin with ${platform.baseUrl}, ` +
        'and a change from a browser that sends no Sec-Fetch-Site is refused as csrf_failed. ' +
        'Set baseUrl to the address that browsers see, the prefix included',
    )
  }

  function callbackFor(prefix: string | undefined, resolve: Resolve = nobody): Callback {
    const users: PrincipalResolver = async (ctx) => {
      const signedIn = await resolve(ctx.req)
      if (!signedIn) return undefined
      const read = readSignedIn(signedIn) as unknown as SignedIn
      return toPrincipal(read, platform.clock.now())
    }
    const { operatorToken } = config
    warnOfAddress()
    return callbackOf(
      handlerFor(createEmbeddedResolver({ platform, operatorToken, users }), true),
      prefix,
    )
  }

  function webFor({ prefix = pathOf(config.baseUrl), resolve, address }: WebOptions): WebHandler {
    const callback = callbackFor(prefix, resolve && ((request) => resolve(...givenOf(request))))
    return webOf(callback, address)
  }

  let mounted: WebHandler | undefined

  let isStopped = false
  function requireRunning(): void {
    if (isStopped) throw kernelError('unavailable', { message: STOPPED })
  }

  function untilStopped<Args extends readonly unknown[], T>(
    call: (...args: Args) => Promise<T>,
  ): (...args: Args) => Promise<T> {
    return async (...args) => {
      requireRunning()
      return call(...args)
    }
  }

  const inProcess = fetchFrom(handlerFor(inProcessResolver, false))
  return {
    platform,
    keys: {
      async verify(value: unknown, given: unknown, ...more: readonly unknown[]) {
        if (more.length > 0) throw new TypeError('keys.verify: takes (value, requirement)')
        const need = given === undefined ? undefined : toNeed(readRequirement(given))
        if (isMissing(value)) throw kernelError('missing_credentials')
        if (need === undefined) throw nothingRequired()
        requireRunning()
        const token = typeof value === 'string' ? value : ''
        let verified: VerifiedKey
        try {
          verified = verifier.verifyCached(token) ?? (await verifier.verify(token))
        } catch (cause) {
          throw explainInvalid(cause, token)
        }
        requireNeed(verified, need)
        return verified
      },
    },
    accounts: { update: untilStopped(createUpdateAccount(platform)) },
    portal: { link: untilStopped(portal.link), end: untilStopped(portal.end) },
    webhooks: { publish: untilStopped(createPublish(platform, transactions)) },
    billing: {
      quote: untilStopped(billing.quote),
      hold: untilStopped(billing.hold),
      capture: untilStopped(billing.capture),
      release: untilStopped(billing.release),
    },
    as(...args: readonly [accountId: string]) {
      readAccount(args)
      const [account] = args
      const fetch: typeof inProcess = async (...args) =>
        isStopped ? refuseStopped() : inProcess(...args)
      return createClient({
        baseUrl: IN_PROCESS,
        key: 'in-process',
        account,
        fetch,
        routes,
      }) as unknown as ReturnType<Keyhook['as']>
    },
    async transaction(...args) {
      readWork(args)
      requireRunning()
      return transactions.run(...args)
    },
    callback(...args) {
      const [options = {}] = readRoutes.callback(args) as typeof args
      return callbackFor(options.prefix, options.resolve)
    },
    koa(...args) {
      const [options = {}] = readRoutes.koa(args) as typeof args
      return koaOf(callbackFor(options.prefix, options.resolve))
    },
    fastify(...args) {
      const [options = {}] = readRoutes.fastify(args) as typeof args
      return fastifyOf((prefix) => callbackFor(prefix, options.resolve))
    },
    web: ((...args: readonly unknown[]) => {
      const [options = {}] = readRoutes.web(args) as readonly [WebOptions?]
      return webFor(options)
    }) as Keyhook['web'],
    fetch: (request, ...context) => (mounted ??= webFor({}))(request, ...context),
    dispatcher: {
      start: () => engine.dispatcher.start(),
      stop: () => engine.dispatcher.stop(),
    },
    stop() {
      isStopped = true
      return opened.close()
    },
  }
}

const STOPPED = 'This Keyhook was stopped.'

/** The response of a stopped Keyhook. A client does not retry after such a long delay. */
function refuseStopped(): Response {
  const error = { code: 'unavailable', message: STOPPED }
  return Response.json({ error }, { status: 503, headers: { 'Retry-After': '86400' } })
}

/** An address that is never connected to. */
const IN_PROCESS = 'http://keyhook.invalid'

/** The routes of the client: those of the product are known already. */
function routesFor(served: readonly Family[]): readonly Route[] {
  const operations = served.flatMap((family) => family.operations)
  const ids = new Set(operations.map(({ id }) => id))
  const known = ROUTES.filter(({ id }) => ids.has(id))
  const own = operations.filter(({ id }) => !known.some((route) => route.id === id))
  return own.length === 0 ? known : [...known, ...routesOf(own)]
}

/** Whether a value stands for a missing key. */
function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** The path that clients see, without a trailing slash. */
function pathOf(baseUrl: string | undefined): string {
  return baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/$/, '')
}

type Resolve = NonNullable<RouteOptions['resolve']>

function nobody(): Promise<undefined> {
  return Promise.resolve(undefined)
}
