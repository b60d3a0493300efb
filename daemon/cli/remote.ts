import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { MINUTE } from '../../lib/time.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/setting.ts'
import type { Answer } from './ask.ts'
import { encodeParts } from './encode-parts.ts'
import type { CommandRequest } from './request.ts'

/** A daemon that commands reach over HTTP. */
export interface Remote {
  /** `https://keys.example.com`, without a trailing slash. */
  readonly url: string
  readonly key: string
}

/** The brand that begins a key; of another token, the configured one. */
export function brandOf({ key = '', brand }: Pick<Config, 'key' | 'brand'>): string {
  return /^([a-z][a-z0-9]*)_dk_/.exec(key)?.[1] ?? brand
}

const ANSWER_WITHIN = 2 * MINUTE

/**
 * The daemon that the settings name; undefined: the one of this machine.
 *
 * @throws ConfigError for an address without a key
 */
export function remoteOf({ url, key }: Pick<Config, 'url' | 'key'>): Remote | undefined {
  if (url === undefined) return undefined
  if (key === undefined)
    throw new ConfigError('KEYHOOK_URL is set, and KEYHOOK_KEY must be set with it')
  return { url, key }
}

/**
 * Sends a request to a daemon elsewhere. The address is that of the person at the terminal, who may reach any; the
 * key goes to this address alone: a redirect is not followed.
 *
 * @throws Error that names the address and the reason, and no key
 */
export async function askRemote(
  { url, key }: Remote,
  { method, path, body, parts }: CommandRequest,
  account: string | undefined,
): Promise<Answer> {
  const multipart = parts && encodeParts(parts)
  const headers: Readonly<Record<string, string>> = {
    Authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(multipart !== undefined && { 'Content-Type': multipart.type }),
    ...(account !== undefined && { 'Keyhook-Account': account }),
    ...(method === 'POST' && { 'Idempotency-Key': randomUUID() }),
  }
  const sent = multipart === undefined ? body : Readable.toWeb(Readable.from(multipart.bytes))
  const response = await fetch(url + path, {
    method,
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_WITHIN),
    ...(sent !== undefined && {
      body: sent as NonNullable<RequestInit['body']>,
      duplex: 'half' as const,
    }),
  }).catch((cause: unknown) => {
    throw new Error(`${url} does not answer: ${reasonOf(cause)}${isKnown(method)}`, { cause })
  })
  return { status: response.status, text: await textOf(url, response) }
}

async function textOf(url: string, response: Response): Promise<string> {
  const { status, headers } = response
  if (status >= 300 && status < 400) {
    await response.body?.cancel()
    throw new Error(
      `${url} redirects to ${headers.get('location')}: set KEYHOOK_URL to the address there`,
    )
  }
  const text = await response.text()
  const isOfKeyhook = headers.get('content-type')?.startsWith('application/json') === true
  if (isOfKeyhook) return text
  throw new Error(`${url} answered ${status} with what is not of Keyhook: is the address right?`)
}

/** Why a request was not answered: the code of the network, where there is one. */
export function reasonOf(cause: unknown): string {
  const { cause: inner, message } = cause as Error & { readonly cause?: NodeJS.ErrnoException }
  return inner?.code ?? inner?.message ?? message
}

/** A read is repeated without harm. */
function isKnown(method: string): string {
  return method === 'GET' ? '' : '; what it did is not known'
}
