/**
 * A fake of S3 on loopback: what an app store needs of its protocol, requests judged by their signatures and checksums.
 * What it holds outlives the daemons that use it.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32 } from 'node:zlib'

const ID = 'AKIAFAKEOFLOOPBACK'
const SECRET = 'secret-of-a-fake-storage'
const PAGE = 100

interface StoredObject {
  readonly bytes: Buffer
  readonly etag: string
  readonly at: Date
}

/** A request as the tests name them: `PUT part 3`, `PUT copy`. */
type Step = string

export interface FakeS3 {
  readonly env: Readonly<Record<string, string>>
  /** By bucket and key: `apps/app00001/…`. */
  readonly objects: Map<string, StoredObject>
  /** Multipart uploads that have not ended. */
  unfinished(): number
  /** Lets the next request of this step hang, and resolves once it is there. */
  hold(step: Step): Promise<void>
  /** Changes what requests of this step are told, until what it returns is called. */
  distort(step: Step, change: (answer: Answer) => Answer): () => void
  close(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly body?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

interface Asked {
  readonly method: string
  /** Bucket and key, not encoded. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

const hex = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')
const hmac = (key: Buffer | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()
const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Signature version 4, as the documentation of S3 describes it. */
function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const { headers, method = '', url = '' } = request
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/
  const [, id, day = '', region = '', names = '', signature] =
    pattern.exec(headers.authorization ?? '') ?? []
  const payload = String(headers['x-amz-content-sha256'])
  if (id !== ID || payload !== hex(body)) return false
  const { pathname, searchParams } = new URL(url, 'http://s3')
  const query = [...searchParams]
    .map((pair) => pair.map(encode).join('='))
    .sort()
    .join('&')
  const signed = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const canonical = [method, pathname, query, signed.join(''), names, payload].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, hex(canonical)].join(
    '\n',
  )
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${SECRET}`)
  return hmac(key, toSign).toString('hex') === signature
}

function isWhole({ headers, body }: Asked): boolean {
  const sum = headers['x-amz-checksum-crc32']
  if (sum === undefined) return true
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(body))
  return bytes.toString('base64') === sum
}

const escape = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)
const tag = (name: string, ...inside: readonly string[]): string =>
  `<${name}>${inside.join('')}</${name}>`
const text = (name: string, value: string | number): string => tag(name, escape(String(value)))
const xml = (body: string, status = 200): Answer => ({
  status,
  body: `<?xml version="1.0" encoding="UTF-8"?>${body}`,
  headers: { 'content-type': 'application/xml' },
})
/** A refusal as S3 makes it. */
export const failed = (status: number, code: string): Answer =>
  xml(tag('Error', text('Code', code)), status)

export async function startFakeS3(): Promise<FakeS3> {
  const objects = new Map<string, StoredObject>()
  const uploads = new Map<string, { key: string; at: Date; parts: Buffer[] }>()
  const holds = new Map<Step, () => void>()
  const distortions = new Map<Step, (answer: Answer) => Answer>()

  function store(path: string, bytes: Buffer): string {
    const etag = `"${createHash('md5').update(bytes).digest('hex')}"`
    objects.set(path, { bytes, etag, at: new Date() })
    return etag
  }

  function list({ path, query }: Asked): Answer {
    const bucket = `${path}/`
    const prefix = query.get('prefix') ?? ''
    const delimiter = query.get('delimiter')
    const after = query.get('continuation-token') ?? ''
    const keys = [...objects.keys()]
      .filter((one) => one.startsWith(bucket + prefix))
      .map((one) => one.slice(bucket.length))
    const groupOf = (key: string): string => {
      const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length)
      return end === -1 ? key : key.slice(0, end + 1)
    }
    const names = [...new Set(keys.map(groupOf))].filter((name) => name > after).sort()
    const page = names.slice(0, PAGE)
    const shown = page.map((name) => {
      const object = objects.get(bucket + name)
      if (object === undefined) return tag('CommonPrefixes', text('Prefix', name))
      const { bytes, etag, at } = object
      const facts = [text('Key', name), text('Size', bytes.length), text('ETag', etag)]
      return tag('Contents', ...facts, text('LastModified', at.toISOString()))
    })
    const more = names.length > PAGE ? [text('NextContinuationToken', page.at(-1) ?? '')] : []
    const isTruncated = text('IsTruncated', String(more.length > 0))
    return xml(tag('ListBucketResult', isTruncated, ...more, ...shown))
  }

  function ofUpload({ method, path, query, body }: Asked): Answer {
    const id = query.get('uploadId') ?? ''
    const upload = uploads.get(id)
    if (upload?.key !== path) return failed(404, 'NoSuchUpload')
    if (method === 'PUT') {
      upload.parts[Number(query.get('partNumber')) - 1] = body
      return { status: 200, headers: { etag: `"${hex(body)}"` } }
    }
    uploads.delete(id)
    if (method === 'DELETE') return { status: 204 }
    const wanted = [...body.toString().matchAll(/<ETag>([^<]+)<\/ETag>/g)].map(([, etag]) => etag)
    const given = upload.parts.map((part) => `&quot;${hex(part)}&quot;`)
    if (wanted.join() !== given.join()) return failed(400, 'InvalidPart')
    return xml(
      tag('CompleteMultipartUploadResult', text('ETag', store(path, Buffer.concat(upload.parts)))),
    )
  }

  function ofBucket(asked: Asked): Answer {
    const { path, query, body } = asked
    if (query.has('delete')) {
      const keys = [...body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key)
      for (const key of keys) objects.delete(`${path}/${key}`)
      return xml(tag('DeleteResult'))
    }
    if (!query.has('uploads')) return list(asked)
    const shown = [...uploads].map(([id, { key, at }]) =>
      tag(
        'Upload',
        text('Key', key.slice(path.length + 1)),
        text('UploadId', id),
        text('Initiated', at.toISOString()),
      ),
    )
    return xml(tag('ListMultipartUploadsResult', ...shown))
  }

  function ofObject({ method, path, query, headers, body }: Asked): Answer {
    if (query.has('uploads')) {
      const id = randomUUID()
      uploads.set(id, { key: path, at: new Date(), parts: [] })
      return xml(tag('InitiateMultipartUploadResult', text('UploadId', id)))
    }
    const source = headers['x-amz-copy-source']
    if (method === 'PUT' && typeof source === 'string') {
      const copied = objects.get(decodeURIComponent(source))
      if (copied === undefined) return failed(404, 'NoSuchKey')
      return xml(tag('CopyObjectResult', text('ETag', store(path, copied.bytes))))
    }
    if (method === 'PUT') return { status: 200, headers: { etag: store(path, body) } }
    const found = objects.get(path)
    if (method === 'DELETE') {
      const match = headers['if-match']
      if (match !== undefined && found === undefined) return failed(404, 'NoSuchKey')
      if (match !== undefined && match !== found?.etag) return failed(412, 'PreconditionFailed')
      objects.delete(path)
      return { status: 204 }
    }
    if (found === undefined) return failed(404, 'NoSuchKey')
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    const shown = { etag: found.etag, 'last-modified': found.at.toUTCString() }
    if (start === undefined) return { status: 200, body: found.bytes, headers: shown }
    return {
      status: 206,
      body: found.bytes.subarray(Number(start), Number(end) + 1),
      headers: shown,
    }
  }

  function answer(request: IncomingMessage, body: Buffer): Answer {
    const { method = '', headers, url = '' } = request
    if (!isSigned(request, body)) return failed(403, 'SignatureDoesNotMatch')
    const { pathname, searchParams: query } = new URL(url, 'http://s3')
    const path = decodeURIComponent(pathname.slice(1)).replace(/\/$/, '')
    const asked = { method, path, query, headers, body }
    if (!isWhole(asked)) return failed(400, 'BadDigest')
    if (query.has('uploadId')) return ofUpload(asked)
    return path.includes('/') ? ofObject(asked) : ofBucket(asked)
  }

  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const reached = holds.get(stepOf(request))
      if (reached !== undefined) {
        holds.delete(stepOf(request))
        reached()
        return
      }
      const distorted = distortions.get(stepOf(request)) ?? ((same: Answer) => same)
      const { status, body, headers } = distorted(
        answer(request, Buffer.concat(chunks as Buffer[])),
      )
      response.writeHead(status, headers).end(body)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    env: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: 'apps',
      S3_ACCESS_KEY_ID: ID,
      S3_SECRET_ACCESS_KEY: SECRET,
      S3_PART_BYTES: '262144',
    },
    objects,
    unfinished: () => uploads.size,
    hold: (step) => new Promise((reached) => holds.set(step, reached)),
    distort(step, change) {
      distortions.set(step, change)
      return () => distortions.delete(step)
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function stepOf({ method, url = '', headers }: IncomingMessage): Step {
  const query = new URL(url, 'http://s3').searchParams
  const part = query.get('partNumber')
  if (part !== null) return `PUT part ${part}`
  if ('x-amz-copy-source' in headers) return 'PUT copy'
  if (query.has('list-type')) return 'GET list'
  return query.has('uploadId') ? `${method ?? ''} upload` : (method ?? '')
}
