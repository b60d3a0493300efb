import type { VerifiedKey } from '../../lib/engine/verifier.ts'
import type { Client } from '../client/index.ts'
import type { Requirement } from '../families/keys/need.ts'
import type { Platform } from '../platform.ts'
import type { UpdateAccount } from './accounts.ts'
import type { EmbeddedBilling } from './billing.ts'
import type { EmbeddedOperation, PlatformFamily, ServedFamily } from './families.ts'
import type { GivenSettings } from './options.ts'
import type { ChosenPlugins } from './plugins.ts'
import type { EmbeddedPortal, LinkOptions, PortalLink } from './portal.ts'
import type { EventToPublish, Publish } from './publish.ts'
import type { Callback, RouteOptions, fastifyOf, koaOf } from './routes.ts'
import type { Transactions } from './transactions.ts'
import type { WebHandler, WebOptions } from './web/handler.ts'

export interface KeyhookOptions extends GivenSettings {
  /**
   * Database: a Sequelize instance, a pg `Pool`, Knex over sqlite3, `postgres://…`, or the path of a SQLite
   * file. Default: a file in `dataDir`, a folder that this process then holds.
   */
  readonly database?: unknown
  /** Prefix of every table name. Default `keyhook_`. */
  readonly tablePrefix?: string
  /** False sends nothing until `dispatcher.start()`. Default true. */
  readonly dispatch?: boolean
  /**
   * Families besides keys, webhooks and events: your own of `defineFamily`, and those of the platform by name. What is
   * not named is served nowhere.
   */
  readonly families?: readonly ServedFamily[]
  /** Your own implementations of the contracts, instead of the built-in ones. */
  readonly plugins?: ChosenPlugins
}

/** Scope families with their actions. */
export type ScopeFamilies = Readonly<Record<string, readonly string[]>>

/** Options whose event types and scopes are known to the compiler where they are written out. */
export type TypedOptions<
  Type extends string,
  Families extends ScopeFamilies,
  Asked extends ServedFamily = ServedFamily,
> = Omit<KeyhookOptions, 'eventTypes' | 'scopes' | 'families'> & {
  readonly families?: readonly Asked[]
  readonly eventTypes?: readonly Type[] | KeyhookOptions['eventTypes']
  readonly scopes?: Families | KeyhookOptions['scopes']
}

/** The scopes of families, and those of the service; any text where the families are not known. */
export type ScopeOf<
  Families extends ScopeFamilies,
  Asked extends ServedFamily = never,
> = string extends keyof Families ? string : ScopeIn<Families> | ServiceScope | AskedScope<Asked>

/** A scope, or all actions of its family. */
type ScopeText<Scope extends string> = Scope | `${FamilyIn<Scope>}:*`

type FamilyIn<Scope extends string> = Scope extends `${infer Family}:${string}` ? Family : string

type ScopeIn<Families extends ScopeFamilies> = string extends keyof Families
  ? string
  : {
      [Family in keyof Families & string]: `${Family}:${Families[Family][number]}`
    }[keyof Families & string]

/** Of the families that are always served. */
type ServiceScope =
  | `${'keys' | 'webhooks' | 'events'}:${'read' | 'write'}`
  | `${'discovery' | 'billing'}:read`

type AskedScope<Asked> = Asked extends 'observe'
  ? 'observe:read'
  : Asked extends PlatformFamily
    ? `${Asked}:${'read' | 'write'}`
    : Asked extends { readonly scopes: infer Own extends ScopeFamilies }
      ? ScopeIn<Own>
      : never

/**
 * Keyhook inside your own process. `Type` and `Scope` are the event types and scopes that its options declare; an
 * account may declare further types, which `Keyhook` without parameters accepts.
 */
export interface Keyhook<
  Type extends string = string,
  Scope extends string = string,
  Asked extends ServedFamily = never,
> {
  readonly keys: {
    /**
     * Returns the owner of a key and what it may do now.
     *
     * @param value value of the key in the request; undefined, and any other value than a key, is refused
     * @param requirement what the key must allow; `{ scope: null }` requires nothing
     * @throws KeyhookError `missing_credentials`, `invalid_key`, `key_expired`, `key_revoked`,
     *   `key_rotated`, `account_suspended`, `insufficient_scope`, `app_not_found`, `unavailable`; TypeError
     *   for a requirement that is missing, of another name, or undefined, and for a scope that is not
     *   declared
     */
    verify(value: string | null | undefined, requirement: Requirement<Scope>): Promise<VerifiedKey>
  }
  readonly accounts: {
    /**
     * Changes settings of one of your accounts, regardless of what its users may do: `key_limit`, the
     * maximum number of live keys, and `plan`.
     *
     * @throws TypeError for a missing, unknown or impossible change; KeyhookError `plan_managed` for a plan
     *   that a payment processor sells
     */
    update: UpdateAccount
  }
  /** Pages in which your customers manage their keys and webhooks, to be shown in a frame of yours. */
  readonly portal: {
    /**
     * Creates a link that opens the portal for one of your accounts, once.
     *
     * @param options.scopes what the session may do, and give to keys; default: read and write keys and webhooks
     * @param options.expires_in seconds until the link is no longer accepted, at most 3600; default 300
     * @throws KeyhookError `invalid_scope`, `scope_not_of_portal`, `account_suspended`; TypeError for an option
     *   of another name or type
     * @example
     * const { url } = await keyhook.portal.link('acme', { scopes: ['keys:read', 'keys:write'] })
     */
    link(
      accountId: string,
      options?: Omit<LinkOptions, 'scopes'> & { readonly scopes?: readonly ScopeText<Scope>[] },
    ): Promise<PortalLink>
    /** Ends the sessions of an account in the portal, and its unused links; returns their number. */
    end: EmbeddedPortal['end']
  }
  readonly webhooks: {
    /**
     * Publishes an event to the account's webhooks.
     *
     * Without a `transaction` it resolves after its own commit. With one it commits and rolls back with it:
     * a transaction of `keyhook.transaction()`, or one over PostgreSQL: a pg client after `BEGIN`, or what
     * Sequelize, Drizzle, Kysely, Knex, TypeORM or MikroORM passes to a callback.
     *
     * @throws KeyhookError `undeclared_event_type`, `reserved_event_type`, `event_too_large`,
     *   `event_id_conflict`, `unavailable`; TypeError for an event or an option of another name or
     *   type, and for what is no transaction to publish in
     */
    publish(event: EventToPublish<Type>, options?: Parameters<Publish>[1]): ReturnType<Publish>
  }
  /**
   * Charges for operations of your own, which the price file names, to the credit of accounts. Without
   * `billing` everything is free.
   *
   * With a `transaction`, as of `publish`, each commits and rolls back with it.
   */
  readonly billing: {
    /**
     * Returns what work would cost now, and whether it could be paid for.
     *
     * @throws KeyhookError `key_not_found`; TypeError for an operation without a price, and as `publish`
     */
    quote: EmbeddedBilling['quote']
    /**
     * Sets the price of work aside. Work that is held or captured already is not held again.
     *
     * @throws KeyhookError `insufficient_balance`, having held nothing, `key_not_found`, `unavailable`;
     *   TypeError for an operation without a price, and as `publish`
     */
    hold: EmbeddedBilling['hold']
    /**
     * Charges completed work at the price at which it was held, and returns the rest of its hold. Work without
     * an open hold is not charged; work that was captured returns what it was charged then.
     *
     * @throws KeyhookError `unavailable`; TypeError as `publish`
     */
    capture: EmbeddedBilling['capture']
    /**
     * Returns the hold of failed work. What was captured stays so.
     *
     * @throws KeyhookError `unavailable`; TypeError as `publish`
     */
    release: EmbeddedBilling['release']
  }
  /**
   * Every operation of the API for one of your accounts, called in this process.
   *
   * @throws TypeError for an id other than 1 to 64 letters, digits, `_` or `-`
   */
  as(accountId: string): Client<EmbeddedOperation<Asked>>
  /**
   * Runs `work` in a transaction of your database, in which `publish` and `billing` may take part.
   *
   * On SQLite it holds the only writer of the file: all other writes of Keyhook wait, at most ten seconds.
   */
  readonly transaction: Transactions['run']
  /** The whole API as `(request, response, next)`, for `node:http` and Express. */
  callback(options?: RouteOptions): Callback
  /** The same as Koa middleware. */
  koa(options?: RouteOptions): ReturnType<typeof koaOf>
  /** The same as a Fastify plugin; its prefix is the one of its registration. */
  fastify(options?: Omit<RouteOptions, 'prefix'>): ReturnType<typeof fastifyOf>
  /**
   * The same for frameworks with web-standard requests: returns `(request) => Promise<Response>`. What they
   * pass beside the request is passed to `resolve` and `address`.
   *
   * @example
   * const api = keyhook.web({ address: (request, server) => server.requestIP(request)?.address })
   * Bun.serve({ fetch: (request, server) => api(request, server) })
   */
  web<Context extends readonly unknown[] = readonly unknown[]>(
    options?: WebOptions<Context>,
  ): WebHandler<Context>
  /**
   * Responds to a web-standard request below the path of `baseUrl`, as `web()` without options does. Further
   * arguments of a framework are ignored.
   *
   * The promise rejects when the client leaves before the response begins.
   *
   * @example
   * export const GET = keyhook.fetch
   */
  readonly fetch: WebHandler
  readonly dispatcher: { start(): Promise<void>; stop(): Promise<void> }
  readonly platform: Platform
  /** Lets running attempts end, and closes what was opened here. */
  stop(): Promise<void>
}
