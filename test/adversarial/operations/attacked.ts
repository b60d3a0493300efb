import { readFileSync, writeFileSync } from 'node:fs'
import type { ClientRequest, IncomingHttpHeaders } from 'node:http'
import { request as httpRequest } from 'node:http'
import type { Test } from 'tap'
import { FAMILIES } from '../../../daemon/families/index.ts'
import type { Operation } from '../../../daemon/operations/operation.ts'
import type { DaemonProcess } from '../../support/daemon.ts'
import { startDaemonProcess } from '../../support/daemon.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'
import type { AnyBody } from '../../support/world.ts'
import type { Ids, Plot } from './planted.ts'
import { plant } from './planted.ts'

export const ALL: readonly Operation[] = FAMILIES.flatMap(({ operations }) => operations)

/** The address that the operator comes from: others may hold all connections of theirs. */
const OPERATORS = '127.0.0.3'
const PASSWORD = 'correct horse battery'
const OPERATOR = 'the-operator-of-the-tests-of-limits'

export type Headers = Readonly<Record<string, string>>

/** What is asked of the daemon, in the parts of HTTP. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body?: string | Uint8Array
  /** The length of a body that is announced, and not sent. */
  readonly announced?: number
  /** The address of this machine that it comes from. */
  readonly from?: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** An account of the daemon, with a record of every family. */
export interface Tenant {
  readonly id: string
  /** Headers of the operator on its behalf. */
  readonly owner: Headers
  readonly ids: Ids
  /** A new key of it, which may do everything. */
  mint(): Promise<string>
}

/** A daemon in a process of its own, whose rates are lifted so that its pools are what is tried. */
export interface Attacked {
  readonly daemon: DaemonProcess
  send(request: Request): Promise<Answer>
  /** Sends a request and never takes its answer. */
  ignore(request: Request): ClientRequest
  addTenant(): Promise<Tenant>
  /** Creates a user and signs in; answers the headers of the session. */
  signIn(email: string): Promise<Headers>
  /** Bytes that requests and responses hold, by pool. */
  held(): Promise<Readonly<Record<string, number>>>
  /** Bytes of memory that the process held at most; undefined where the machine does not tell. */
  peak(): number | undefined
  /** Lets `peak` begin anew, with what the process holds now. */
  resetPeak(): void
}

export async function startAttacked(t: Test): Promise<Attacked> {
  const daemon = await startDaemonProcess({
    KEYHOOK_DATA_DIR: t.testdir(),
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    KEYHOOK_RATE_READS: '0',
    KEYHOOK_RATE_WRITES: '0',
    KEYHOOK_APPS_DOMAIN: 'apps.example.net',
    KEYHOOK_LOG_LEVEL: 'error',
    // Node collects garbage late where memory is plenty; what is held must fit here, and little else is counted.
    NODE_OPTIONS: '--max-old-space-size=256 --max-semi-space-size=2',
  })
  t.teardown(() => daemon.end('SIGTERM'))
  const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
  t.teardown(() => receiver.close())
  const open = new Set<ClientRequest>()
  t.teardown(() => {
    for (const request of open) request.destroy()
  })

  function begin({ method, path, headers, body, announced, from }: Request): ClientRequest {
    const size = announced ?? (body === undefined ? undefined : Buffer.byteLength(body))
    const length = size === undefined ? {} : { 'content-length': String(size) }
    const request = httpRequest(daemon.url + path, {
      method,
      headers: { ...headers, ...length },
      agent: false,
      ...(from === undefined ? {} : { localAddress: from }),
    })
    open.add(request)
    request.once('close', () => open.delete(request))
    // A body that is refused may be cut off while it is sent.
    request.on('error', () => undefined)
    if (announced === undefined) request.end(body)
    else request.flushHeaders()
    return request
  }

  function send(asked: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = begin(asked)
      request.once('close', () => reject(new Error(`no answer to ${asked.method} ${asked.path}`)))
      request.once('response', (response) => {
        const isStream = response.headers['content-type'] === 'text/event-stream; charset=utf-8'
        const chunks: Buffer[] = []
        const finish = (): void => {
          const { statusCode: status = 0 } = response
          resolve({ status, headers: response.headers, text: Buffer.concat(chunks).toString() })
        }
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('close', finish)
        if (isStream) {
          finish()
          request.destroy()
        }
      })
    })
  }

  const operator = { authorization: `Bearer ${OPERATOR}` }

  async function addTenant(): Promise<Tenant> {
    const { id } = await ask(operator, 'POST', '/v1/accounts', { name: 'A tenant' })
    const owner = { ...operator, 'keyhook-account': String(id) }
    const at = `http://127.0.0.1:${receiver.port}`
    const plot: Plot = { receiver: at, ask: (...asking) => ask(owner, ...asking) }
    return {
      id: String(id),
      owner,
      ids: await plant(plot, (family) => `planted-${family}`, '*:*'),
      async mint() {
        const made = await ask(owner, 'POST', '/v1/keys', { name: 'a key', scopes: ['*:*'] })
        return String(made['key'])
      },
    }
  }

  async function ask(
    headers: Headers,
    method: string,
    path: string,
    body?: AnyBody | FormData,
  ): Promise<AnyBody> {
    const sent = body instanceof FormData ? new Response(body) : undefined
    const type = sent?.headers.get('content-type') ?? 'application/json'
    const bytes = sent === undefined ? JSON.stringify(body) : Buffer.from(await sent.arrayBuffer())
    const { status, text } = await send({
      method,
      path,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { body: bytes }),
    })
    if (status >= 300) throw new Error(`${method} ${path}: ${text}`)
    return JSON.parse(text) as AnyBody
  }

  return {
    daemon,
    send,
    ignore(request) {
      const ignored = begin(request)
      ignored.on('response', (response) => response.pause())
      return ignored
    },
    addTenant,
    async signIn(email) {
      const user = { email, password: PASSWORD }
      await ask(operator, 'POST', '/v1/users', user)
      const answer = await send({
        method: 'POST',
        path: '/v1/session',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(user),
      })
      const [cookie = ''] = (answer.headers['set-cookie']?.[0] ?? '').split(';')
      return { cookie, 'sec-fetch-site': 'same-origin' }
    },
    async held() {
      const asked = { method: 'GET', path: '/metrics', headers: operator, from: OPERATORS }
      const { text } = await send(asked)
      const lines = text.matchAll(/^keyhook_bytes_in_progress\{pool="(\w+)"\} (\d+)$/gm)
      return Object.fromEntries([...lines].map(([, pool, bytes]) => [pool, Number(bytes)]))
    },
    peak() {
      if (process.platform !== 'linux') return undefined
      const status = readFileSync(`/proc/${daemon.child.pid}/status`, 'utf8')
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
    },
    resetPeak() {
      if (process.platform === 'linux') writeFileSync(`/proc/${daemon.child.pid}/clear_refs`, '5')
    },
  }
}

/** The path of an operation with the ids of a tenant's records. */
export function pathOf({ path }: Operation, ids: Ids): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none')
}
