import type { RawAnswer, RawRequest } from './in-process.ts'
import { exampleBody } from './openapi.ts'
import type { AnyBody } from './world.ts'

export type Headers = Readonly<Record<string, string>>

export type Role =
  | 'user'
  | 'key of everything'
  | 'key without the scope'
  | 'pinned key'
  | 'session of the portal'
  | 'operator for the account'
  | 'operator for none'
  | 'nobody'

/** The user's is that of the example, which asks for it anew then succeeds. */
const { password } = exampleBody('POST', '/v1/session')

/** Opens an account and everyone who may ask for it, each by what its requests bear. */
export async function openRoles(
  ask: (request: RawRequest) => Promise<RawAnswer>,
  operatorToken: string,
): Promise<Readonly<Record<Role, Headers>>> {
  async function send(
    path: string,
    body: object,
    headers: Headers,
  ): Promise<{ readonly body: AnyBody; readonly cookie: string }> {
    const answer = await ask({
      method: 'POST',
      path,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
    const [cookie = ''] = [answer.headers['set-cookie'] ?? ''].flat().map(String)
    return { body: JSON.parse(answer.text) as AnyBody, cookie: cookie.split(';', 1)[0] ?? '' }
  }

  const operator = { authorization: `Bearer ${operatorToken}` }
  const account = await send('/v1/accounts', { name: 'An account' }, operator)
  const account_id = String(account.body['id'])
  const credentials = { email: `${account_id}@example.com`, password }
  await send('/v1/users', { ...credentials, account_id }, operator)
  const { cookie } = await send('/v1/session', credentials, {})
  const owner = { ...operator, 'keyhook-account': account_id }
  const mint = async (bounds: object): Promise<Headers> => {
    const { body } = await send('/v1/keys', { name: 'a key', ...bounds }, owner)
    return { authorization: `Bearer ${String(body['key'])}` }
  }
  const openPortal = async (): Promise<Headers> => {
    const scopes = ['keys:*', 'webhooks:*', 'events:read']
    const link = await send(`/v1/accounts/${account_id}/portal-links`, { scopes }, operator)
    const [, token] = String(link.body['url']).split('#token=')
    const { body } = await send('/v1/portal/session', { token }, {})
    return { authorization: `Bearer ${String(body['token'])}` }
  }
  return {
    user: { cookie, 'sec-fetch-site': 'same-origin' },
    'key of everything': await mint({ scopes: ['*:*'] }),
    'key without the scope': await mint({ scopes: ['observe:read'] }),
    'pinned key': await mint({ scopes: ['*:*'], apps: ['a1'] }),
    'session of the portal': await openPortal(),
    'operator for the account': owner,
    'operator for none': operator,
    nobody: {},
  }
}
