import { Agent, request } from 'node:http'

/** Jepsen's three: done, surely not done, and nobody knows. */
export type Outcome = 'ok' | 'fail' | 'unknown'

export interface Reply {
  readonly outcome: Outcome
  /** 0 when no status line came. */
  readonly status: number
  readonly body: Json
}

export type Json = Readonly<Record<string, unknown>>

export interface Ask {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Longer than anything the daemon does in health. */
const PATIENCE = 10_000

/** Asks one daemon over HTTP, and never rejects. */
export function createWire(): (origin: string, ask: Ask) => Promise<Reply> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  return (origin, { method, path, token, body, headers }) =>
    new Promise((resolve) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const asking = request(
        `${origin}${path}`,
        {
          method,
          agent,
          timeout: PATIENCE,
          headers: {
            authorization: `Bearer ${token}`,
            ...(text === undefined
              ? {}
              : {
                  'content-type': 'application/json',
                  'content-length': String(Buffer.byteLength(text)),
                }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.once('end', () => {
            if (response.complete) resolve(judge(response.statusCode ?? 0, Buffer.concat(chunks)))
          })
          response.once('close', () => {
            // A success whose body broke off tells that it was done, but not what came of it.
            resolve({ outcome: 'unknown', status: response.statusCode ?? 0, body: {} })
          })
        },
      )
      asking.once('timeout', () => asking.destroy(new Error('no answer')))
      asking.once('error', (cause: NodeJS.ErrnoException) => {
        const refused = cause.code === 'ECONNREFUSED' || cause.code === 'ENOENT'
        resolve({ outcome: refused ? 'fail' : 'unknown', status: 0, body: {} })
      })
      asking.end(text)
    })
}

/** A server's own fault says nothing about what it did before. */
function judge(status: number, bytes: Buffer): Reply {
  const outcome = status < 300 ? 'ok' : status < 500 ? 'fail' : 'unknown'
  return { outcome, status, body: bytes.length === 0 ? {} : (JSON.parse(bytes.toString()) as Json) }
}
