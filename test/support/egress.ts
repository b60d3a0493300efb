import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllowList, type EgressPolicy } from '../../lib/egress/url.ts'
import {
  EGRESS_CAUSES,
  EGRESS_ERRORS,
  type EgressCause,
  type EgressClient,
  type EgressErrorCode,
  type EgressRequest,
  type EgressResult,
} from '../../plugins/egress/contract.ts'
import { createEgressClient, type EgressClientOptions } from '../../plugins/egress/undici.ts'
import { startReceiver, type Answer, type Receiver } from './receiver.ts'

/** What a fixture needs of a test. */
interface Scope {
  teardown(handler: () => Promise<void>): void
}

export type ClientSetup = Partial<EgressClientOptions> & { readonly allow?: string }

export const HEAD = 'HTTP/1.1 200 OK\r\n'
export const OK = `${HEAD}content-length: 2\r\n\r\nok`
export const NAME = 'hooks.example.com'

/** 127.0.0.2 stands for a permitted receiver, every other loopback address for an internal one. */
export function clientFor(
  t: Scope,
  { allow = '127.0.0.2', ...options }: ClientSetup = {},
): EgressClient {
  const policy: EgressPolicy = { schemes: ['https', 'http'], allow: parseAllowList(allow) }
  const client = createEgressClient({ policy, resolve: resolvingTo(['127.0.0.2']), ...options })
  t.teardown(() => client.close())
  return client
}

export async function receiverAt(
  t: Scope,
  answer: Answer,
  host = '127.0.0.2',
  port = 0,
): Promise<Receiver> {
  const receiver = await startReceiver(answer, { host, port })
  t.teardown(() => receiver.close())
  return receiver
}

/** Answers one list of addresses after another, and the last one for ever. */
export function resolvingTo(
  ...answers: readonly (readonly string[])[]
): () => Promise<readonly string[]> {
  let asked = 0
  return () => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? []
    asked += 1
    return Promise.resolve(answer)
  }
}

export function requestTo(
  receiver: Pick<Receiver, 'port'>,
  rest: Partial<EgressRequest> = {},
): EgressRequest {
  return {
    url: `http://${NAME}:${receiver.port}/in`,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Service-Event': 'app.created' },
    body: new TextEncoder().encode('{"id":"evt_1"}'),
    timeout: 5000,
    maxResponseBytes: 4096,
    ...rest,
  }
}

/** The body that came back, or how the call failed. */
export function textOf(result: EgressResult): string {
  return result.ok ? new TextDecoder().decode(result.body) : `failed: ${result.code}`
}

export function failed(code: EgressErrorCode, cause?: EgressCause): object {
  const message = cause === undefined ? EGRESS_ERRORS[code] : EGRESS_CAUSES[cause]
  return { ok: false, code, ...(cause !== undefined && { cause }), message }
}

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/**
 * Makes a self-signed certificate for a name.
 *
 * @param days how long it holds from now; -1 is until yesterday
 */
export async function certify(folder: string, name: string, days = 1): Promise<Certificate> {
  const place = (file: string): string => join(folder, file)
  const openssl = (line: string): Promise<unknown> =>
    promisify(execFile)('openssl', line.split(' '), { cwd: folder })
  await openssl(
    `req -new -nodes -subj /CN=${name} -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 ` +
      `-addext subjectAltName=DNS:${name} -keyout key.pem -out request.pem`,
  )
  await openssl(
    `x509 -req -in request.pem -signkey key.pem -copy_extensions copy -days ${days} -out cert.pem`,
  )
  return {
    key: await readFile(place('key.pem'), 'utf8'),
    cert: await readFile(place('cert.pem'), 'utf8'),
  }
}
