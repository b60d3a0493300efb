import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One answer of the fake; whatever is left out is as a well-behaved server does it. */
export interface FakeTurn {
  readonly text?: string
  /** Characters of a streamed chunk; default 7. */
  readonly chunk?: number
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The body of an answer other than 200; default an error of that status. */
  readonly body?: string
  /** What the first byte waits for. */
  readonly before?: Promise<unknown>
  /** Called between the chunks of the text; the next waits for it. */
  readonly between?: () => Promise<unknown>
  /**
   * How it ends: `stop`, `length` and `content_filter` are finish reasons; `cut` breaks the connection
   * off after the text, `quiet` leaves it open and silent, `malformed` sends what is no JSON, `unended`
   * closes without a finish reason, `error` reports one in the stream. Default `stop`.
   */
  readonly ends?: 'stop' | 'length' | 'content_filter' | FakeFault
  readonly refusal?: string
  /** Default: counted when it is asked for. `null` leaves it out all the same. */
  readonly usage?: object | null
  /** A server that does not stream, whatever it is asked. */
  readonly plain?: boolean
}

/** One answer to a question for vectors; whatever is left out is as a well-behaved server does it. */
export interface FakeVectors {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** In place of the vectors. */
  readonly body?: string
  /** What the answer waits for. */
  readonly before?: Promise<unknown>
  /** A server that answers with numbers, whatever it is asked. */
  readonly plain?: boolean
}

type FakeFault = 'cut' | 'quiet' | 'malformed' | 'unended' | 'error'

export interface FakeMessage {
  readonly role: string
  readonly content: string
}

/** What reached the fake. */
export interface FakeRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
  readonly messages: readonly FakeMessage[]
  /** Whether whoever asked went away before the end. */
  readonly isAborted: boolean
}

/** A loopback server that speaks a model's protocol and is none: it says what a test tells it to. */
export interface FakeModel {
  /** Where its API begins. */
  readonly url: string
  readonly requests: readonly FakeRequest[]
  /** Turns for the next requests, one each; the last one for all after it. */
  queue(...turns: readonly FakeTurn[]): void
  /**
   * Turns for the requests whose last user message bears the answer to this, one for each, and the
   * last for all after it; a conversation goes on with the marker of its first user message.
   */
  script(...turns: readonly FakeTurn[]): string
  /** Answers for the next questions for vectors, one each. */
  queueVectors(...answers: readonly FakeVectors[]): void
  close(): Promise<void>
}

export const FAKE_MODEL = 'fake-model'
const DIMENSIONS = 64
const MARKER = /\[\[fake:(\d+)\]\]/g

export async function startFakeModel(): Promise<FakeModel> {
  const requests: FakeRequest[] = []
  const scripts = new Map<string, FakeTurn[]>()
  const waiting: FakeTurn[] = []
  const vectors: FakeVectors[] = []

  function turnFor(messages: readonly FakeMessage[]): FakeTurn {
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    const marked = said.toReversed().flatMap((text) => [...text.matchAll(MARKER)].at(-1)?.[1] ?? [])
    return next(scripts.get(marked[0] ?? '') ?? waiting) ?? { text: 'SUMMARY: Nothing.' }
  }

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined)
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    const messages = (body['messages'] ?? []) as readonly FakeMessage[]
    const path = request.url ?? ''
    const seen = { path, headers: request.headers, body, messages, isAborted: false }
    requests.push(seen)
    response.on('close', () => (seen.isAborted = !response.writableFinished))
    if (path === '/v1/models') return sendJson(response, 200, MODELS)
    if (path === '/v1/embeddings') return sendVectors(response, body, vectors.shift() ?? {})
    if (path !== '/v1/chat/completions') return sendJson(response, 404, errorOf('not_found'))
    await complete(turnFor(messages), body, response)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    queue: (...turns) => void waiting.push(...turns),
    queueVectors: (...answers) => void vectors.push(...answers),
    script(...turns) {
      const id = String(scripts.size + 1)
      scripts.set(id, [...turns])
      return `[[fake:${id}]]`
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const MODELS = { object: 'list', data: [{ id: FAKE_MODEL, object: 'model', owned_by: 'fake' }] }

function next(turns: FakeTurn[]): FakeTurn | undefined {
  return turns.length > 1 ? turns.shift() : turns[0]
}

async function complete(
  turn: FakeTurn,
  body: Record<string, unknown>,
  response: ServerResponse,
): Promise<void> {
  const { status = 200, text = '', usage = countTokens(text, body) } = turn
  await turn.before
  if (response.destroyed) return
  for (const [name, value] of Object.entries(turn.headers ?? {})) response.setHeader(name, value)
  if (status !== 200) {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.write(turn.body ?? JSON.stringify(errorOf(`status_${status}`)))
    if (turn.ends !== 'quiet') response.end()
    return
  }
  const asksUsage = (body['stream_options'] as { include_usage?: boolean } | undefined)
    ?.include_usage
  if (body['stream'] === true && turn.plain !== true)
    await stream(turn, asksUsage === true ? usage : null, response)
  else
    sendJson(response, 200, { ...chunkOf([wholeChoice(turn)]), object: 'chat.completion', usage })
}

function wholeChoice({ text = '', refusal, ends = 'stop' }: FakeTurn): object {
  return { index: 0, message: { role: 'assistant', content: text, refusal }, finish_reason: ends }
}

async function stream(
  turn: FakeTurn,
  usage: object | null,
  response: ServerResponse,
): Promise<void> {
  const { text = '', chunk = 7, ends = 'stop', refusal } = turn
  const send = (data: string): void => void response.write(`data: ${data}\n\n`)
  const sendChoice = (delta: object, finish_reason: string | null = null): void =>
    send(JSON.stringify(chunkOf([{ index: 0, delta, finish_reason }])))
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.write(': a comment keeps the connection alive\n\n')
  sendChoice({ role: 'assistant', content: '' })
  for (let at = 0; at < text.length && !response.destroyed; at += chunk) {
    sendChoice({ content: text.slice(at, at + chunk) })
    await turn.between?.()
  }
  if (refusal !== undefined) sendChoice({ refusal })
  if (ends === 'quiet') return
  const fault = FAULTS[ends]
  if (fault !== undefined) {
    fault(response, send)
    return
  }
  sendChoice({}, ends)
  if (usage !== null) send(JSON.stringify({ ...chunkOf([]), usage }))
  send('[DONE]')
  response.end()
}

const FAULTS: Readonly<
  Record<string, (response: ServerResponse, send: (data: string) => void) => void>
> = {
  cut: (response) => void response.write(': \n', () => response.destroy()),
  malformed: (response, send) => {
    send('{"choices": [')
    response.end()
  },
  unended: (response) => void response.end(),
  error: (response, send) => {
    send(JSON.stringify(errorOf('server_error')))
    response.end()
  },
}

function chunkOf(choices: readonly object[]): object {
  return { id: 'fake-1', object: 'chat.completion.chunk', created: 0, model: FAKE_MODEL, choices }
}

function errorOf(code: string): object {
  return { error: { message: 'The fake was told to answer so.', type: 'fake', code } }
}

/** Words of what was sent, so that a test can tell the numbers apart. */
function countTokens(text: string, body: Record<string, unknown>): object {
  const prompt_tokens = JSON.stringify(body['messages'] ?? []).split(/\s+/).length
  const completion_tokens = text.split(/\s+/).length
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 1 },
  }
}

async function sendVectors(
  response: ServerResponse,
  asked: Record<string, unknown>,
  { status = 200, headers = {}, body, before, plain = false }: FakeVectors,
): Promise<void> {
  await before
  if (response.destroyed) return
  const isText = asked['encoding_format'] === 'base64' && !plain
  const answer = status === 200 ? embed(asked, isText) : errorOf(`status_${status}`)
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body ?? JSON.stringify(answer))
}

/** Vectors of length one that the same words always have: texts that share words lie near. */
function embed({ input, model }: Record<string, unknown>, isText: boolean): object {
  const texts = (Array.isArray(input) ? input : [input]) as readonly string[]
  const data = texts.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: isText ? base64Of(vectorOf(text)) : vectorOf(text),
  }))
  const tokens = texts.join(' ').split(/\s+/).length
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

function vectorOf(text: string): readonly number[] {
  const vector = Array<number>(DIMENSIONS).fill(0)
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    const digest = createHash('sha256').update(word).digest()
    const at = digest.readUInt8(0) % DIMENSIONS
    vector[at] = (vector[at] ?? 0) + (digest.readUInt8(1) % 2 === 0 ? 1 : -1)
  }
  const length = Math.hypot(...vector)
  if (length === 0) return vector.with(0, 1)
  return vector.map((one) => one / length)
}

function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(4 * vector.length)
  for (const [at, one] of vector.entries()) bytes.writeFloatLE(one, 4 * at)
  return bytes.toString('base64')
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}
