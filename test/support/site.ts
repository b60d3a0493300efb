import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { createAccountsFamily } from '../../daemon/families/accounts/family.ts'
import type { Passwords } from '../../daemon/families/accounts/password.ts'
import { createPasswords } from '../../daemon/families/accounts/password.ts'
import { keysFamily } from '../../daemon/families/keys/family.ts'
import type { Family } from '../../daemon/operations/family.ts'
import { mountAlone } from './mounted.ts'
import { createResolver } from '../../daemon/http/resolve.ts'
import type { PrincipalResolver, RequestState } from '../../daemon/http/state.ts'
import type { Platform } from '../../daemon/platform.ts'
import { servePages } from '../../daemon/studio/setup-page.ts'
import type { VirtualClock } from './clock.ts'
import { createClock } from './clock.ts'
import type { Page } from './webhooks.ts'
import type { Answer, AnyBody, World } from './world.ts'
import { createWorld } from './world.ts'

export const START = Date.UTC(2026, 0, 31)
export const TOKEN = 'operator-token-of-the-tests'
export const EMAIL = 'owner@example.com'
export const PASSWORD = 'correct horse battery'
export const CHEAP = { ln: 4, r: 8, p: 1 }

type TestScope = Parameters<typeof createWorld>[0]

/** A world whose callers are told from each other as the daemon does. */
export interface Site extends World {
  readonly clock: VirtualClock
  readonly passwords: Passwords
  /** Asks with these headers alone. */
  ask<Body = AnyBody>(method: string, path: string, asking?: Asking): Promise<Answer<Body>>
  asOperator<Body = AnyBody>(
    method: string,
    path: string,
    body?: unknown,
    account?: string,
  ): Promise<Answer<Body>>
  addUser(email?: string, password?: string): Promise<{ id: string; account_id: string }>
  signIn(password?: string, email?: string): Promise<Answer<AnyBody>>
  /** Signs in and answers the `Cookie` header of the session. */
  session(): Promise<string>
}

interface Asking {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface SiteOptions {
  /** Default: hashed at a low cost. */
  readonly passwords?: Passwords
  /** Mounted beside keys and accounts. */
  readonly families?: readonly Family[]
}

export async function openSite(
  test: TestScope,
  { passwords = createPasswords({ cost: CHEAP }), families = [] }: SiteOptions = {},
): Promise<Site> {
  const clock = createClock(START)
  const world = await createWorld(test, {
    clock,
    families: [createAccountsFamily({ passwords }), ...families],
    resolve: (platform) => createResolver({ platform, operatorToken: TOKEN }),
  })
  const ask: Site['ask'] = (method, path, asking) =>
    world.request(method, path, { as: null, ...asking })
  const asOperator: Site['asOperator'] = (method, path, body, account) =>
    world.request(method, path, {
      as: TOKEN,
      body,
      headers: account === undefined ? {} : { 'keyhook-account': account },
    })
  const signIn: Site['signIn'] = (password = PASSWORD, email = EMAIL) =>
    ask('POST', '/v1/session', { body: { email, password } })
  return {
    ...world,
    clock,
    passwords,
    ask,
    asOperator,
    signIn,
    async addUser(email = EMAIL, password = PASSWORD) {
      const made = await asOperator<{ id: string; account_id: string }>('POST', '/v1/users', {
        email,
        password,
      })
      if (made.status !== 201) throw new Error(`no user: ${JSON.stringify(made.body)}`)
      return made.body
    },
    async session() {
      return cookieOf(await signIn())
    },
  }
}

export function cookieOf({ status, headers }: Pick<Answer<unknown>, 'status' | 'headers'>): string {
  const [cookie] = headers.getSetCookie()
  if (status !== 200 || cookie === undefined) throw new Error(`not signed in: ${status}`)
  return cookie.split(';', 1)[0] ?? ''
}

/** The same platform behind another way in. */
export async function serve(
  test: TestScope,
  platform: Platform,
  passwords: Passwords,
  resolve: PrincipalResolver,
): Promise<(method: string, path: string, asking?: Asking) => Promise<Answer<AnyBody>>> {
  const app = new Koa<RequestState>()
  app.silent = true
  app.use(servePages())
  app.use(
    mountAlone({
      platform,
      families: [createAccountsFamily({ passwords }), keysFamily],
      resolve,
      rateLimits: { reads: 0, writes: 0 },
      onError: () => undefined,
    }),
  )
  const answer = app.callback()
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return async (method, path, { body, headers = {} } = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: (text.startsWith('{') ? JSON.parse(text) : { text }) as AnyBody,
    }
  }
}

export async function accountsOf(site: Site): Promise<readonly { readonly id: string }[]> {
  const page = await site.asOperator<Page<{ readonly id: string }>>('GET', '/v1/accounts')
  return page.body.data
}

export function setupTokenOf(link: string | undefined): string {
  const token = link?.split('#token=')[1]
  if (token === undefined) throw new Error('there is no setup link')
  return token
}
