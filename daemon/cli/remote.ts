import { MINUTE } from '../../lib/time.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/setting.ts'
import type { Answer } from './ask.ts'
import { UnreadableFile } from './encode-parts.ts'
import type { Exchanged } from './exchange.ts'
import { exchange } from './exchange.ts'
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
  request: CommandRequest,
  account: string | undefined,
): Promise<Answer> {
  const options = { account, key, within: ANSWER_WITHIN }
  const answer = await exchange({ url }, request, options).catch((cause: unknown) => {
    if (cause instanceof UnreadableFile) throw cause
    const reason = reasonOf(cause)
    if (UNTRUSTED.test(reason)) {
      throw new Error(
        `${url} has a certificate that is not trusted: ${reason}. NODE_EXTRA_CA_CERTS names a file of further authorities`,
        { cause },
      )
    }
    throw new Error(`${url} does not answer: ${reason}${isKnown(request.method)}`, { cause })
  })
  requireKeyhook(url, answer)
  return { status: answer.status, text: answer.text }
}

function requireKeyhook(url: string, { status, headers }: Exchanged): void {
  if (status >= 300 && status < 400) {
    throw new Error(`${url} redirects to ${headers.location}: set KEYHOOK_URL to the address there`)
  }
  if (headers['content-type']?.startsWith('application/json') === true) return
  throw new Error(`${url} answered ${status} with what is not of Keyhook: is the address right?`)
}

/** Codes of Node for a certificate that it refuses. */
const UNTRUSTED = /CERT|_ISSUER|_LEAF_SIGNATURE/

/** Why a request was not answered: the code of the network, where there is one. */
export function reasonOf(cause: unknown): string {
  const {
    cause: inner,
    code,
    message,
  } = cause as NodeJS.ErrnoException & {
    readonly cause?: NodeJS.ErrnoException
  }
  // That of a DOMException is a number.
  return inner?.code ?? inner?.message ?? (typeof code === 'string' ? code : message)
}

/** A read is repeated without harm. */
function isKnown(method: string): string {
  return method === 'GET' ? '' : '; what it did is not known'
}
