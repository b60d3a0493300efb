import type { Test } from 'tap'
import type { Env } from '../support/daemon.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import type { Database } from './database.ts'
import { openDatabase } from './database.ts'

export const OWNER = { email: 'owner@example.com', password: 'correct horse battery' }

export type Body = Readonly<Record<string, unknown>>

export interface App extends Body {
  readonly id: string
  readonly current_revision: number
  readonly production_url: string
  readonly preview_url: string
}

export interface Deployment extends Body {
  readonly id: string
  readonly status: string
  readonly edit_id: string | null
}

/** The built daemon, with an owner, a key of the owner's, and apps on a listener of their own. */
export interface Service {
  /** The address that browsers see. */
  readonly url: string
  /** The same where names below localhost are not known. */
  readonly address: string
  readonly key: string
  readonly database: Database
  /** Asks with the key; rejects for anything but a 2xx. */
  ask<Answer = Body>(method: string, path: string, body?: Body): Promise<Answer>
  makeApp(given: Body): Promise<App>
  /** By operations on the current revision; answers the id of the edit. */
  edit(app: App, ...operations: readonly Body[]): Promise<string>
  /** Waits until it is live. */
  deploy(app: App, act: 'publish' | 'rollback'): Promise<Deployment>
}

/**
 * @param env `KEYHOOK_PORT` where `KEYHOOK_BASE_URL` names one
 * @param prepare what happens before the owner makes a key
 */
export async function startService(
  t: Pick<Test, 'testdir' | 'teardown'>,
  env: Env = {},
  prepare?: (address: string) => Promise<void>,
): Promise<Service> {
  const database = await openDatabase(t)
  const daemon = await startDaemonProcess({
    ...database.env,
    KEYHOOK_OWNER_EMAIL: OWNER.email,
    KEYHOOK_OWNER_PASSWORD: OWNER.password,
    ...env,
  })
  t.teardown(() => daemon.end('SIGTERM'))
  const address = `http://127.0.0.1:${new URL(daemon.url).port}`
  await prepare?.(address)
  const key = await mintKey(address)

  async function ask<Answer = Body>(method: string, path: string, body?: Body): Promise<Answer> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    return read<Answer>(await fetch(address + path, { method, headers, ...sent }))
  }

  return {
    url: daemon.url,
    address,
    key,
    database,
    ask,
    makeApp: (given) => ask('POST', '/v1/apps', given),
    async edit({ id }, ...operations) {
      const { current_revision: base_revision } = await ask<App>('GET', `/v1/apps/${id}`)
      const body = { base_revision, operations }
      const { edit_id } = await ask<{ edit_id: string }>('POST', `/v1/apps/${id}/edits`, body)
      return edit_id
    },
    async deploy({ id }, act) {
      const path = `/v1/apps/${id}/deploy/${act}?wait=25`
      const deployment = await ask<Deployment>('POST', path, {})
      if (deployment.status === 'live') return deployment
      throw new Error(`${act} ended as ${JSON.stringify(deployment)}`)
    },
  }
}

/** As the owner does with a browser: signs in, and makes a key that may do everything. */
async function mintKey(url: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const credentials = JSON.stringify(OWNER)
  const session = await fetch(`${url}/v1/session`, { method: 'POST', headers, body: credentials })
  await read(session)
  const [cookie = ''] = session.headers.getSetCookie()
  const made = await fetch(`${url}/v1/keys`, {
    method: 'POST',
    headers: { ...headers, cookie: cookie.split(';', 1)[0] ?? '' },
    body: JSON.stringify({ name: 'walk', scopes: ['*:*'] }),
  })
  return (await read<{ readonly key: string }>(made)).key
}

async function read<Answer>(response: Response): Promise<Answer> {
  const body: unknown = await response.json()
  if (response.ok) return body as Answer
  throw new Error(`${response.url} answered ${response.status}: ${JSON.stringify(body)}`)
}
