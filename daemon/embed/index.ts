import type { RequestListener } from 'node:http'
import type { VerifiedKey } from '../../lib/engine/verifier.ts'
import { kernelError } from '../../lib/errors.ts'
import type { Client, Served } from '../client/index.ts'
import { createClient } from '../client/index.ts'
import type { Config } from '../config.ts'
import { ConfigError, rateLimitsOf } from '../config.ts'
import type { Family } from '../family.ts'
import { EMBEDDED_FAMILIES, errorRows } from '../families/index.ts'
import type { Requirement } from '../families/keys/need.ts'
import { requireNeed } from '../families/keys/need.ts'
import { createApp } from '../http/app.ts'
import { documents } from '../http/documents.ts'
import { createEmbeddedResolver, inProcessResolver } from '../http/resolve.ts'
import type { PrincipalResolver } from '../http/state.ts'
import type { Opened } from '../open.ts'
import { openPlatform, startWork } from '../open.ts'
import { apiPages } from '../openapi/pages.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'
import { createLog } from '../telemetry/log.ts'
import type { UpdateAccount } from './accounts.ts'
import { createUpdateAccount } from './accounts.ts'
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
import type { GivenSettings } from './options.ts'
import { inCode, readGiven } from './options.ts'
import { openPlace } from './place.ts'
import type { Publish } from './publish.ts'
import { createPublish } from './publish.ts'
import type { Callback, RouteOptions, SignedIn } from './routes.ts'
import { callbackOf, fastifyOf, koaOf, toPrincipal } from './routes.ts'
import { createTransactions } from './transactions.ts'
import type { Transactions } from './transactions.ts'

export { ConfigError } from '../config.ts'
export type { AccountSettings } from './accounts.ts'
export type { Requirement } from '../families/keys/need.ts'
export type { EventToPublish, Published } from './publish.ts'
export type { RouteOptions, SignedIn } from './routes.ts'

export interface KeyhookOptions extends GivenSettings {
  /**
   * Where records are kept: a Sequelize instance, a pg `Pool`, `postgres://…`, or the path of a SQLite
   * file. Default: a file in `dataDir`, a folder that this process then holds.
   */
  readonly database?: unknown
  /** Begins the name of every table. Default `keyhook_`. */
  readonly tablePrefix?: string
  /** False leaves sending to `dispatcher.start()`. Default true. */
  readonly dispatch?: boolean
  /** Families of your own, besides the product's. */
  readonly families?: readonly Family[]
}

/** Keyhook inside your own process. */
export interface Keyhook {
  readonly keys: {
    /**
     * Whose a key is and what it may do right now.
     *
     * @param value as the request bears it; undefined, and anything that is no key, is refused
     * @param requirement what the key must allow; `{ scope: null }` requires nothing
     * @throws KeyhookError `missing_credentials`, `invalid_key`, `key_expired`, `key_revoked`,
     *   `key_rotated`, `account_suspended`, `insufficient_scope`, `app_not_found`, `unavailable`;
     *   TypeError for a requirement that is missing, of another name, or undefined, and for a scope that
     *   is not declared
     */
    verify(value: string | null | undefined, requirement: Requirement): Promise<VerifiedKey>
  }
  readonly accounts: {
    /**
     * Changes what holds for one of your accounts, whatever its users may do: `key_limit`, the maximum
     * of live keys.
     *
     * @throws TypeError for a missing, unknown or impossible change
     */
    update: UpdateAccount
  }
  readonly webhooks: {
    /**
     * Publishes an event to the account's webhooks.
     *
     * By itself it resolves after its commit. In a `transaction` it commits and rolls back with that:
     * one of `keyhook.transaction()`, of Sequelize over PostgreSQL, or a pg client after `BEGIN`.
     *
     * @throws KeyhookError `undeclared_event_type`, `reserved_event_type`, `event_too_large`,
     *   `event_id_conflict`, `unavailable`; TypeError for an event or an option of another name or
     *   type, and for what is no transaction to publish in
     */
    publish: Publish
  }
  /**
   * Every operation of the API for one of your accounts, called in this process.
   *
   * @throws TypeError for an id other than 1 to 64 letters, digits, `_` or `-`
   */
  as(accountId: string): Client<Served>
  /**
   * Runs `work` in a transaction of your database, in which `publish` may take part.
   *
   * On SQLite it holds the file's one writer: everything else that Keyhook writes waits, ten seconds
   * at most.
   */
  readonly transaction: Transactions['run']
  /** The whole API as `(request, response, next)`, for `node:http` and Express. */
  callback(options?: RouteOptions): Callback
  /** The same as a middleware of Koa. */
  koa(options?: RouteOptions): ReturnType<typeof koaOf>
  /** The same as a plugin of Fastify; its prefix is the one it is registered with. */
  fastify(options?: Omit<RouteOptions, 'prefix'>): ReturnType<typeof fastifyOf>
  readonly dispatcher: { start(): Promise<void>; stop(): Promise<void> }
  readonly platform: Platform
  /** Lets attempts under way end, and closes what was opened here. */
  stop(): Promise<void>
}

/**
 * Opens Keyhook in this process, over your database or one of its own.
 *
 * Settings are those of docs/config.md in camel case: `KEYHOOK_MASTER_KEY` is `masterKey`. Nothing is
 * read from the environment.
 *
 * @throws TypeError for an option of another name or type; ConfigError naming the setting that cannot be
 *   used, as it was given
 * @example
 * const keyhook = await createKeyhook({ database: sequelize, masterKey, eventTypes: ['order.paid'] })
 * createServer(keyhook.callback()).listen(3000, '127.0.0.1')
 */
export async function createKeyhook(
  ...args: readonly [options?: KeyhookOptions]
): Promise<Keyhook> {
  const [options = {}] = readKeyhookOptions(args) as typeof args
  try {
    return await open(options)
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    throw new ConfigError(inCode(cause.message), { cause: cause.cause })
  }
}

async function open(options: KeyhookOptions): Promise<Keyhook> {
  const { database, tablePrefix, dispatch = true, families = [], ...given } = options
  const config = readGiven(given)
  const log = createLog(config.logLevel)
  const place = await openPlace(config, database, tablePrefix === undefined ? {} : { tablePrefix })
  if (database === undefined && given.dataDir === undefined && given.databaseUrl === undefined) {
    // A misspelt source of the database must not go unseen.
    process.emitWarning(
      `createKeyhook: neither database nor dataDir is given: records are kept in ${place.folder}`,
    )
  }
  const baseUrl = config.baseUrl ?? `http://${config.host}:${config.port}`
  const served = [...EMBEDDED_FAMILIES, ...families]
  try {
    const opened = await openPlatform({
      ...place,
      config,
      log,
      families: served,
      baseUrl,
      // It listens nowhere itself: where the embedder's server leads is the embedder's to say.
      ownHosts: [],
    })
    const work = await startWork(opened, config, log, { dispatch })
    return assemble(opened, { config, log, served, database }, async () => {
      await work.stop()
      await opened.platform.deployer?.close()
      await opened.platform.editor.close?.()
      await opened.platform.embedder?.close?.()
      await opened.platform.egress.close()
      await place.close()
    })
  } catch (cause) {
    await place.close()
    throw cause
  }
}

interface Setting {
  readonly config: Config
  readonly log: Log
  readonly served: readonly Family[]
  readonly database: unknown
}

function assemble(
  opened: Opened,
  { config, log, served, database }: Setting,
  stop: () => Promise<void>,
): Keyhook {
  const { platform, metrics, traffic } = opened
  const { verifier, universe, engine, store } = platform
  const toNeed = createNeeds(universe)
  const transactions = createTransactions(store, database)
  const pages = documents(apiPages(served, errorRows(served), platform.baseUrl))

  function handlerFor(resolve: PrincipalResolver, limited: boolean): RequestListener {
    const handler = createApp({
      platform,
      families: served,
      resolve,
      rateLimits: limited ? rateLimitsOf(config) : { reads: 0, writes: 0 },
      trustedProxies: config.trustedProxies,
      traffic,
      // The embedder's own server decides which hosts it answers for.
      hosts: undefined,
      operatorToken: config.operatorToken,
      pages: [pages],
      log,
      metrics,
      leaving: new AbortController().signal,
    }).callback()
    return (request, response) => void handler(request, response)
  }

  function callbackFor({ prefix, resolve = nobody }: RouteOptions): Callback {
    const users: PrincipalResolver = async (ctx) => {
      const signedIn = await resolve(ctx.req)
      if (!signedIn) return undefined
      const read = readSignedIn(signedIn) as unknown as SignedIn
      return toPrincipal(read, platform.clock.now())
    }
    const { operatorToken } = config
    return callbackOf(
      handlerFor(createEmbeddedResolver({ platform, operatorToken, users }), true),
      prefix,
    )
  }

  const inProcess = fetchFrom(handlerFor(inProcessResolver, false))
  return {
    platform,
    keys: {
      async verify(...args: readonly unknown[]) {
        const [value, given] = args
        if (args.length > 2) throw new TypeError('keys.verify: takes (value, requirement)')
        const need = given === undefined ? undefined : toNeed(readRequirement(given))
        if (isMissing(value)) throw kernelError('missing_credentials')
        if (need === undefined) throw nothingRequired()
        const token = typeof value === 'string' ? value : ''
        let verified: VerifiedKey
        try {
          verified = verifier.verifyKept(token) ?? (await verifier.verify(token))
        } catch (cause) {
          throw explain(cause, token)
        }
        requireNeed(verified, need)
        return verified
      },
    },
    accounts: { update: createUpdateAccount(platform) },
    webhooks: { publish: createPublish(platform, transactions) },
    as(...args: readonly [accountId: string]) {
      readAccount(args)
      const [account] = args
      return createClient({ baseUrl: IN_PROCESS, key: 'in-process', account, fetch: inProcess })
    },
    async transaction(...args) {
      readWork(args)
      return transactions.run(...args)
    },
    callback(...args) {
      const [options = {}] = readRoutes.callback(args) as typeof args
      return callbackFor(options)
    },
    koa(...args) {
      const [options = {}] = readRoutes.koa(args) as typeof args
      return koaOf(callbackFor(options))
    },
    fastify(...args) {
      const [options = {}] = readRoutes.fastify(args) as typeof args
      return fastifyOf((prefix) => callbackFor({ ...options, prefix }))
    },
    dispatcher: {
      start: () => engine.dispatcher.start(),
      stop: () => engine.dispatcher.stop(),
    },
    stop,
  }
}

/** Leads nowhere: it is never connected to. */
const IN_PROCESS = 'http://keyhook.invalid'

/** A whole `Authorization` header is no key; whoever passed it learns what to pass. */
function explain(cause: unknown, token: string): unknown {
  if (!/^bearer\s/i.test(token)) return cause
  return kernelError('invalid_key', {
    message: 'This is no valid key: pass the token alone, without "Bearer" before it.',
  })
}

/** What a request without a key has in its place. */
function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function nobody(): Promise<undefined> {
  return Promise.resolve(undefined)
}
