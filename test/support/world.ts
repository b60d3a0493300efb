import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import type { Opened } from '../../daemon/composition/open.ts'
import { keysFamily } from '../../daemon/families/keys/family.ts'
import { withSpecifiedEvents } from './specified-events.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { mountAlone } from './mounted.ts'
import type { Protocol } from '../../daemon/http/protocol-steps.ts'
import type { RateLimits } from '../../daemon/http/rates.ts'
import type { PrincipalResolver, RequestState } from '../../daemon/http/state.ts'
import { fetchFrom } from '../../daemon/embed/in-process.ts'
import type { Traffic } from '../../daemon/http/traffic.ts'
import type { Platform } from '../../daemon/platform.ts'
import type {
  OperatorPrincipal,
  PortalPrincipal,
  Principal,
  UserPrincipal,
} from '../../daemon/authority/principal.ts'
import type { Cidr } from '../../lib/egress/address.ts'
import { FULL_AUTHORITY } from '../../lib/grant/authority.ts'
import type { AccountRecord, Plan } from '../../plugins/store/contract/accounts.ts'
import { ask } from './ask.ts'
import { currentMounting } from './mounting.ts'
import type { PlatformOptions } from './platform.ts'
import { createPlatform } from './platform.ts'

/** What a world needs of a test. */
interface Scope {
  testdir(): string
  teardown(handler: () => Promise<void>): void
}

export interface WorldOptions extends PlatformOptions {
  /** Mounted beside keys. Default none. */
  readonly families?: readonly Family[]
  readonly plan?: Plan
  /** Proxies whose word on who asks is believed. Default none. */
  readonly trustedProxies?: readonly Cidr[]
  /** Default none. */
  readonly rateLimits?: RateLimits
  /** Other protocols that are served. Default none. */
  readonly protocols?: readonly Protocol[]
  /** Replaces how callers are told from each other; undefined leaves the request to the world. */
  readonly resolve?: (platform: Platform) => PrincipalResolver
}

/** A principal, the value of a key, or nobody. */
export type Asker = Principal | string | null

export interface Asking {
  /** Default: the world's user. */
  readonly as?: Asker
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as multipart/form-data. */
  readonly form?: FormData
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export type AnyBody = Readonly<Record<string, unknown>>

export interface MintedKey {
  readonly id: string
  readonly key: string
}

/** The API over a real store, engine and egress client, asked over loopback. */
export interface World {
  readonly platform: Platform
  readonly baseUrl: string
  /** Asks in this process, without a socket, as an embedder's `as()` does. */
  readonly fetch: typeof globalThis.fetch
  /** What requests and responses hold. */
  readonly traffic: Traffic
  readonly account: AccountRecord
  /** The account's user. */
  readonly user: UserPrincipal
  /** A user of any account. */
  userOf(account: Pick<AccountRecord, 'id'>): UserPrincipal
  /** A session of the portal of the account that nothing keeps from anything of the portal's. */
  readonly portal: PortalPrincipal
  /** The operator on behalf of the account. */
  readonly operator: OperatorPrincipal
  /** The operator on behalf of any account, or of none. */
  operatorFor(account: Pick<AccountRecord, 'id'> | null): OperatorPrincipal
  addAccount(changes?: Partial<AccountRecord>): Promise<AccountRecord>
  /** Asks for an operation; an internal error rejects with its cause. */
  request<Body = AnyBody>(method: string, path: string, asking?: Asking): Promise<Answer<Body>>
  /** Mints a key through the API, as the user unless told otherwise. */
  mintKey(
    given: { readonly scopes: readonly string[]; readonly apps?: readonly string[] },
    as?: Asker,
  ): Promise<MintedKey>
}

const PRINCIPAL_HEADER = 'test-principal'

/**
 * Starts a world of its own for one test.
 *
 * @example
 * const world = await createWorld(t, { families: [webhooksFamily] })
 * const { status } = await world.request('GET', '/v1/webhooks')
 */
export async function createWorld(t: Scope, options: WorldOptions = {}): Promise<World> {
  const families = withSpecifiedEvents([keysFamily, ...(options.families ?? [])])
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const mounting = currentMounting()
  const baseUrl = `http://127.0.0.1:${port}${mounting.prefix}`
  const opened = await createPlatform(t.testdir(), { ...options, baseUrl, families })
  const { platform, traffic } = opened
  const principals = new Map<string, Principal>()
  const defects = new Map<string, unknown>()
  const api = apiOf(platform, families, principals, defects, { ...options, traffic })
  server.on('request', await mounting.serve(api))
  await platform.engine.dispatcher.start()
  t.teardown(() => close(server, opened))

  const addAccount: World['addAccount'] = (changes) =>
    insertAccount(platform, { plan: options.plan ?? 'pro', ...changes })
  const account = await addAccount()
  const user = userOf(account)

  const request: World['request'] = async <Body>(
    method: string,
    path: string,
    { as = user, body, form, headers = {} }: Asking = {},
  ): Promise<Answer<Body>> => {
    const asked = {
      ...credentialsOf(as, principals),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    }
    const sent = form ?? (body === undefined ? undefined : JSON.stringify(body))
    const answer = await ask(baseUrl + path, { method, headers: asked, body: sent })
    const { status, headers: received, text } = answer
    const defect = defects.get(received.get('x-request-id') ?? '')
    if (defect !== undefined) throw new Error(`${method} ${path}: ${text}`, { cause: defect })
    const parsed = (text === '' ? undefined : JSON.parse(text)) as Body
    return { status, headers: received, body: parsed }
  }

  return {
    platform,
    baseUrl,
    fetch: fetchFrom(api),
    traffic,
    account,
    user,
    userOf,
    portal: portalOf(account),
    operator: operatorFor(account),
    operatorFor,
    addAccount,
    request,
    async mintKey(given, as = user) {
      const body = { name: 'a key', ...given }
      const made = await request<MintedKey>('POST', '/v1/keys', { as, body })
      if (made.status !== 201) throw new Error(`no key: ${JSON.stringify(made.body)}`)
      return made.body
    },
  }
}

function apiOf(
  platform: Platform,
  families: readonly Family[],
  principals: ReadonlyMap<string, Principal>,
  defects: Map<string, unknown>,
  given: Pick<WorldOptions, 'rateLimits' | 'resolve' | 'trustedProxies' | 'protocols'> & {
    readonly traffic: Traffic
  },
): RequestListener {
  const app = new Koa<RequestState>()
  const {
    traffic,
    trustedProxies = [],
    protocols = [],
    rateLimits = { reads: 0, writes: 0 },
  } = given
  const own = resolverOf(platform, principals)
  const resolve = given.resolve?.(platform)
  app.use(
    mountAlone({
      platform,
      families,
      resolve: async (ctx) => (await resolve?.(ctx)) ?? own(ctx),
      rateLimits,
      trustedProxies,
      protocols,
      traffic,
      onError: (error, request) => {
        if (error.code === 'internal_error') defects.set(request.id, error.cause)
      },
    }),
  )
  const answer = app.callback()
  return (request, response) => {
    void answer(request, response)
  }
}

/** Keys are verified as in production; users and the operator are named by a header of the tests. */
function resolverOf(
  platform: Platform,
  principals: ReadonlyMap<string, Principal>,
): PrincipalResolver {
  return async (ctx) => {
    const value = /^Bearer (.+)$/.exec(ctx.get('authorization'))?.[1]
    if (value === undefined) return principals.get(ctx.get(PRINCIPAL_HEADER))
    const verified = await platform.verifier.verify(value)
    return { type: 'key', account_id: verified.key.account_id, ...verified }
  }
}

function credentialsOf(
  asker: Asker,
  principals: Map<string, Principal>,
): Readonly<Record<string, string>> {
  if (asker === null) return {}
  if (typeof asker === 'string') return { authorization: `Bearer ${asker}` }
  const name = String(principals.size + 1)
  principals.set(name, asker)
  return { [PRINCIPAL_HEADER]: name }
}

function userOf({ id }: Pick<AccountRecord, 'id'>): UserPrincipal {
  return {
    type: 'user',
    account_id: id,
    user_id: `user-of-${id}`,
    email: 'owner@example.com',
    session_hash: '0'.repeat(64),
    authenticated_at: Infinity,
    authority: FULL_AUTHORITY,
  }
}

function portalOf({ id }: Pick<AccountRecord, 'id'>): PortalPrincipal {
  return {
    type: 'portal',
    account_id: id,
    session: { id: `session-of-${id}`, hash: '0'.repeat(64), expires_at: Infinity },
    authority: FULL_AUTHORITY,
  }
}

function operatorFor(account: Pick<AccountRecord, 'id'> | null): OperatorPrincipal {
  return { type: 'operator', account_id: account?.id ?? null, authority: FULL_AUTHORITY }
}

async function insertAccount(
  { store, clock, newId }: Platform,
  changes: Partial<AccountRecord>,
): Promise<AccountRecord> {
  const now = clock.now()
  const account: AccountRecord = {
    id: newId(),
    name: 'An account',
    plan: 'pro',
    key_limit: null,
    suspended_at: null,
    created_at: now,
    updated_at: now,
    ...changes,
  }
  await store.write((tx) => tx.accounts.insert(account))
  return account
}

async function close(server: Server, opened: Opened): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await opened.platform.engine.dispatcher.stop()
  await opened.close()
}
