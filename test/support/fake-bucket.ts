import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const TOKEN = 'token-of-a-bucket'

interface StoredObject {
  readonly bytes: Buffer
  readonly keptAt: string
  readonly etag: string
}

/** A request as the tests name them: `PUT part 3`, `PUT copy`. */
type Step = string

/** An object storage over loopback, with the part of S3's protocol that an app store needs. */
export interface FakeBucket {
  readonly env: Readonly<Record<string, string>>
  readonly objects: ReadonlyMap<string, StoredObject>
  /** Multipart uploads that have not ended. */
  unfinished(): number
  /** Lets the next request of this step hang, and resolves once it is there. */
  hold(step: Step): Promise<void>
  close(): Promise<void>
}

export async function startFakeBucket(): Promise<FakeBucket> {
  const objects = new Map<string, StoredObject>()
  const uploads = new Map<string, Buffer[]>()
  const holds = new Map<Step, () => void>()

  const store = (key: string, bytes: Buffer, keptAt: string): void => {
    objects.set(key, { bytes, keptAt, etag: `"${randomUUID()}"` })
  }

  function list(query: URLSearchParams): string {
    const after = query.get('start-after') ?? ''
    const keys = [...objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
      .sort()
      .slice(0, Number(query.get('max-keys')))
    return keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')
  }

  /** Answers the status and the body. */
  async function handle(
    { method = '', headers, url = '' }: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
  ): Promise<readonly [number, (string | Buffer)?]> {
    const { pathname, searchParams: query } = new URL(url, 'http://bucket')
    const key = pathname.replace('/bucket/', '')
    const upload = query.get('uploadId') ?? ''
    const source = headers['x-amz-copy-source']
    const found = objects.get(key)
    if (headers.authorization !== `Bearer ${TOKEN}`) return [403]
    if (query.has('prefix')) return [200, list(query)]
    if (query.has('uploads')) {
      const id = randomUUID()
      uploads.set(id, [])
      return [200, `<UploadId>${id}</UploadId>`]
    }
    const parts = uploads.get(upload)
    if (upload !== '' && parts === undefined) return [404]
    if (parts !== undefined && method === 'PUT') {
      parts[Number(query.get('partNumber')) - 1] = body
      return [200]
    }
    if (parts !== undefined) {
      uploads.delete(upload)
      if (method === 'POST') store(key, Buffer.concat(parts), '0')
      return [method === 'POST' ? 200 : 204]
    }
    if (method === 'PUT') {
      const bytes = typeof source === 'string' ? objects.get(source)?.bytes : body
      if (bytes === undefined) return [404]
      store(key, bytes, String(headers['x-amz-meta-kept-at']))
      return [200]
    }
    if (found === undefined) return [404]
    if (method === 'DELETE') {
      if ('if-match' in headers && headers['if-match'] !== found.etag) return [412]
      objects.delete(key)
      return [204]
    }
    response.setHeader('etag', found.etag)
    response.setHeader('x-size', found.bytes.length)
    response.setHeader('x-amz-meta-kept-at', found.keptAt)
    if (method === 'HEAD') return [200]
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    if (start === undefined) return [200, found.bytes]
    return [206, found.bytes.subarray(Number(start), Number(end) + 1)]
  }

  const server = createServer((request, response) => {
    void request.toArray().then(async (chunks) => {
      const reached = holds.get(stepOf(request))
      if (reached !== undefined) {
        holds.delete(stepOf(request))
        reached()
        return
      }
      const [status, body] = await handle(request, Buffer.concat(chunks as Buffer[]), response)
      response.writeHead(status).end(body)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    env: { BUCKET_URL: `http://127.0.0.1:${port}/bucket`, BUCKET_TOKEN: TOKEN },
    objects,
    unfinished: () => uploads.size,
    hold: (step) => new Promise((reached) => holds.set(step, reached)),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function stepOf({ method, url = '', headers }: IncomingMessage): Step {
  const query = new URL(url, 'http://bucket').searchParams
  const part = query.get('partNumber')
  if (part !== null) return `PUT part ${part}`
  if ('x-amz-copy-source' in headers) return 'PUT copy'
  return query.has('uploadId') ? `${method ?? ''} upload` : (method ?? '')
}
