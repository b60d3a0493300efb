import { randomBytes } from 'node:crypto'

/** The operator of a daemon with apps. */
const OPERATOR = randomBytes(24).toString('hex')

/** Settings of a daemon with apps: limits are counted, and never reached. */
export const APPS_ENV = {
  KEYHOOK_OPERATOR_TOKEN: OPERATOR,
  KEYHOOK_RATE_READS: '1000000',
  KEYHOOK_RATE_WRITES: '1000000',
}

/** Whoever bears the key of an account. */
export interface Client {
  readonly key: string
  /** @throws Error for an answer that is an error */
  ask<Body = AnyRecord>(method: string, path: string, body?: unknown): Promise<Body>
}

type AnyRecord = Readonly<Record<string, unknown>>

const SCOPES = ['apps:*', 'edits:*', 'files:*', 'billing:read']

/** A client of an account that there is, or of a new one. */
export async function openClient(origin: string, account?: string): Promise<Client> {
  const asOperator = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask<AnyRecord>(origin + path, 'POST', { authorization: `Bearer ${OPERATOR}`, ...headers }, body)
  const id = account ?? String((await asOperator('/v1/accounts', { name: 'Bench' }))['id'])
  const minting = { name: 'bench', scopes: SCOPES }
  const { key } = await asOperator('/v1/keys', minting, { 'keyhook-account': id })
  const headers = { authorization: `Bearer ${String(key)}` }
  return {
    key: String(key),
    ask: (method, path, body) => ask(origin + path, method, headers, body),
  }
}

export async function makeApp({ ask }: Client): Promise<string> {
  return String((await ask('POST', '/v1/apps', { template_id: 'blank' }))['id'])
}

async function ask<Body>(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<Body> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${text}`)
  return JSON.parse(text) as Body
}
