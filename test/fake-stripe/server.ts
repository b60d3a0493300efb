import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Checkouts } from './checkout.ts'
import { runControl } from './control.ts'
import type { FakeStripe, SeenRequest } from './fake.ts'
import { type Fault, Faults } from './faults.ts'
import { readForm } from './form.ts'
import { type Begun, Idempotency, type Reply } from './idempotency.ts'
import { FAKE_KEY, FAKE_SECRET } from './names.ts'
import { Outbox } from './outbox.ts'
import { answerPage } from './pages.ts'
import { invalid, Refusal } from './refusal.ts'
import { type Api, routeOf } from './routes.ts'
import { FakeState } from './state.ts'

export interface FakeStripeOptions {
  /** Default: any free one. */
  readonly port?: number
  /** The daemon's intake; without one events are held until they are taken. */
  readonly webhook?: string
  readonly secret?: string
  readonly key?: string
  /** The only `Stripe-Version` that is answered. */
  readonly version: string
  /** In lower case; default `usd`. */
  readonly currency?: string
  /** Price of the plan in minor units; default 2500. */
  readonly planAmount?: number
  /** Milliseconds; default the real time. */
  readonly now?: () => number
}

const FAILURE: Reply = {
  status: 500,
  body: { error: { type: 'api_error', message: 'The fake was told to answer so.' } },
}

const MOST_BODY = 1_048_576

export async function startFakeStripe(options: FakeStripeOptions): Promise<FakeStripe> {
  const { version, secret = FAKE_SECRET, key = FAKE_KEY, webhook } = options
  const { now = Date.now, currency = 'usd', planAmount = 2500 } = options
  const state = new FakeState({ now, version, currency, planAmount })
  const outbox = new Outbox({ webhook, secret, now: () => state.instant() })
  const faults = new Faults()
  const idempotency = new Idempotency()
  const requests: SeenRequest[] = []
  state.onEvent((event) => outbox.add(event))

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined)
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('fake-stripe', '1')
    const body = await readBody(request)
    const { pathname, search } = new URL(request.url ?? '/', fake.url)
    const asked = { method: request.method ?? '', path: pathname, query: search.slice(1), body }
    if (pathname.startsWith('/fake/')) return sendReply(response, await runControl(fake, asked))
    if (!pathname.startsWith('/v1/')) return answerPage(fake, asked, response)
    const sent = request.headers['idempotency-key']
    const seen = {
      method: asked.method,
      path: pathname,
      headers: request.headers,
      body,
      key: typeof sent === 'string' ? sent : undefined,
      isAborted: false,
    }
    requests.push(seen)
    response.on('close', () => (seen.isAborted = !response.writableFinished))
    response.setHeader('request-id', state.id('req'))
    response.setHeader('stripe-version', version)
    // The library prints what it is told here.
    response.setHeader('stripe-notice', 'This is a fake.')
    const fault = faults.take(asked.method, pathname)
    if (fault?.kind === 'hang') begin(seen)
    if (fault?.kind === 'kept') begin(seen)?.end(FAILURE)
    if (fault !== undefined && fails(fault, response)) return
    const reply = replyTo(seen, search.slice(1), response)
    if (fault?.kind === 'lost') response.destroy()
    else sendReply(response, reply)
  }

  /** A request that hangs is in progress for its key. */
  function begin({ method, path, body, key: sent }: SeenRequest): Begun | undefined {
    if (sent === undefined) return undefined
    const begun = idempotency.begin(sent, `${method} ${path} ${body}`)
    return 'replayed' in begun ? undefined : begun
  }

  function replyTo(request: SeenRequest, query: string, response: ServerResponse): Reply {
    try {
      assertAllowed(request, key, version)
      const run = (): Reply => carryOut(request, query)
      if (request.method !== 'POST' || request.key === undefined) return run()
      const { method, path, body } = request
      const begun = idempotency.begin(request.key, `${method} ${path} ${body}`)
      response.setHeader('idempotency-key', request.key)
      if ('replayed' in begun) {
        response.setHeader('idempotent-replayed', 'true')
        return begun.replayed
      }
      const reply = run()
      begun.end(reply)
      return reply
    } catch (error) {
      return refusalReply(error)
    }
  }

  function carryOut({ method, path, body }: SeenRequest, query: string): Reply {
    try {
      const route = routeOf({ method, path })
      if (route === undefined) throw unknownPath(method, path)
      const given = readForm(method === 'POST' ? body : query)
      // As it is now: the object goes on changing.
      return { status: 200, body: structuredClone(route.run(api, given, route.id)) }
    } catch (error) {
      return refusalReply(error)
    }
  }

  const checkouts = new Checkouts(state, () => fake.url)
  const api: Api = {
    state,
    checkouts,
    origin: () => fake.url,
    most: () => fake.pageSize,
  }
  const fake: FakeStripe = {
    url: '',
    state,
    checkouts,
    outbox,
    faults,
    requests,
    pageSize: 100,
    async close() {
      await outbox.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(fake, { url: `http://127.0.0.1:${port}` })
}

function refusalReply(error: unknown): Reply {
  if (!(error instanceof Refusal)) throw error
  return { status: error.status, body: error.body }
}

function assertAllowed({ headers, method }: SeenRequest, key: string, version: string): void {
  const given = headers.authorization ?? ''
  if (given !== `Bearer ${key}`) {
    const shown = given.replace(/^Bearer /, '').replace(/(?<=^.{8}).*(?=.{4}$)/, '****')
    const message = `Invalid API Key provided: ${shown}`
    throw new Refusal(401, { type: 'invalid_request_error', message })
  }
  if (headers['stripe-version'] !== version) {
    throw invalid(`Invalid Stripe API version: ${String(headers['stripe-version'])}`)
  }
  const type = headers['content-type'] ?? ''
  if (method === 'POST' && type !== 'application/x-www-form-urlencoded') {
    throw invalid(`Invalid content type: ${type}`)
  }
}

function unknownPath(method: string, path: string): Refusal {
  const message = `Unrecognized request URL (${method}: ${path}).`
  return new Refusal(404, { type: 'invalid_request_error', message })
}

/** Whether the fault is all that is answered. */
function fails(fault: Fault, response: ServerResponse): boolean {
  const { kind, status = 500 } = fault
  if (kind === 'lost') return false
  if (kind === 'kept') sendReply(response, FAILURE)
  if (kind === 'reset') response.destroy()
  if (kind === 'status') {
    sendReply(response, { status, body: fault.body ?? FAILURE.body })
  }
  if (kind === 'empty') sendReply(response, { status: 200, body: {} })
  if (kind === 'redirect') {
    response.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' })
    response.end('{"id":"moved"}')
  }
  if (kind === 'malformed') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"id": ')
  }
  if (kind === 'endless') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"id": "')
  }
  return true
}

function sendReply(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body, null, 2))
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > MOST_BODY) throw new Error('more than a form has')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
