/** A store of apps in an object storage, over its HTTP protocol: what a third party would write. */
import { createHash, randomUUID } from 'node:crypto'
import { definePlugin } from 'keyhook/plugins'
import { bytesError } from 'keyhook/plugins/apps'

const PART = 262_144

export const plugin = definePlugin({
  contract: 'apps',
  name: 'bucket',
  options: {
    url: { env: 'BUCKET_URL', doc: 'Address of the bucket.', required: true },
    token: { env: 'BUCKET_TOKEN', doc: 'Its token.', required: true, secret: true },
  },
  network: { policy: 'listed', origins: ({ url }) => [new URL(url).origin] },
  async create({ options, fetch, clock, signal, logger }) {
    const bucket = openBucket(options, fetch, signal)
    await bucket.list('', 1)
    logger.info({}, 'bucket.opened')
    return createStore(bucket, clock)
  },
})

function openBucket({ url, token }, fetch, closing) {
  async function call(method, path, { headers, body, signal, allow = [] } = {}) {
    let response
    try {
      response = await fetch(`${url}/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body === undefined ? {} : { body }),
        signal: signal === undefined ? closing : AbortSignal.any([closing, signal]),
      })
    } catch (cause) {
      signal?.throwIfAborted()
      throw new Error(`the bucket did not answer: ${cause.internal ?? cause.message}`, { cause })
    }
    if (response.ok || allow.includes(response.status)) return response
    throw new Error(`the bucket answered ${response.status} to ${method}`)
  }
  return {
    call,
    async head(key) {
      const { status, headers } = await call('HEAD', key, { allow: [404] })
      if (status === 404) return undefined
      return {
        size: Number(headers.get('x-size')),
        kept_at: Number(headers.get('x-amz-meta-kept-at')),
        etag: headers.get('etag'),
      }
    },
    async list(prefix, most = 100, after = '') {
      const query = new URLSearchParams({ prefix, 'max-keys': String(most), 'start-after': after })
      const text = await (await call('GET', `?${query}`)).text()
      return Array.from(text.matchAll(/<Key>([^<]+)<\/Key>/g), ([, key]) => key)
    },
  }
}

function createStore(bucket, clock) {
  async function upload(bytes, { limit = Infinity, signal }) {
    const key = `unfinished/${randomUUID()}`
    const hash = createHash('sha256')
    const begun = await (await bucket.call('POST', `${key}?uploads`, { signal })).text()
    const [, id] = /<UploadId>([^<]+)</.exec(begun)
    let size = 0
    let number = 0
    let rest = Buffer.alloc(0)
    const send = async (body) => {
      number++
      await bucket.call('PUT', `${key}?partNumber=${number}&uploadId=${id}`, { body, signal })
    }
    try {
      for await (const chunk of bytes) {
        signal?.throwIfAborted()
        size += chunk.length
        if (size > limit) throw bytesError('bytes_too_large', { details: { limit } })
        hash.update(chunk)
        rest = Buffer.concat([rest, chunk])
        for (; rest.length >= PART; rest = rest.subarray(PART)) await send(rest.subarray(0, PART))
      }
      await send(rest)
      await bucket.call('POST', `${key}?uploadId=${id}`, { signal })
      return { key, size, sha256: hash.digest('hex') }
    } catch (cause) {
      await bucket.call('DELETE', `${key}?uploadId=${id}`, { allow: [404] }).catch(() => undefined)
      throw cause
    }
  }

  async function* keys(prefix) {
    for (let after = ''; ;) {
      const page = await bucket.list(prefix, 100, after)
      yield* page
      if (page.length < 100) return
      after = page.at(-1)
    }
  }

  return {
    manyProcesses: true,
    async put(appId, bytes, options = {}) {
      keyOf(appId, '0'.repeat(64))
      options.signal?.throwIfAborted()
      const pieces = bytes instanceof Uint8Array ? [bytes] : bytes
      const { key, ...kept } = await upload(pieces, options)
      const target = keyOf(appId, kept.sha256)
      const before = await bucket.head(target)
      const kept_at = String(Math.max(clock.now(), before?.kept_at ?? 0))
      // Only now, and at once, is it there.
      await bucket.call('PUT', target, {
        headers: { 'x-amz-copy-source': key, 'x-amz-meta-kept-at': kept_at },
      })
      await bucket.call('DELETE', key)
      return kept
    },
    async get(appId, sha256) {
      const response = await bucket.call('GET', keyOf(appId, sha256), { allow: [404] })
      if (response.status === 404) return undefined
      const bytes = new Uint8Array(await response.arrayBuffer())
      if (digestOf(bytes) !== sha256) throw bytesError('bytes_damaged')
      return bytes
    },
    async open(appId, sha256, range) {
      const key = keyOf(appId, sha256)
      requireRange(range)
      const found = await bucket.head(key)
      if (found === undefined) return undefined
      const start = Math.min(range?.start ?? 0, found.size)
      const end = Math.min(range?.end ?? found.size, found.size)
      return read(key, sha256, start, end, range === undefined)
    },
    async *list(appId) {
      keyOf(appId, '0'.repeat(64))
      for await (const key of keys(`${appId}/`)) {
        const found = await bucket.head(key)
        if (found === undefined) continue
        yield { sha256: key.slice(appId.length + 1), size: found.size, kept_at: found.kept_at }
      }
    },
    async remove(appId, sha256s, keptBefore) {
      let removed = 0
      for (const sha256 of sha256s) {
        const key = keyOf(appId, sha256)
        const found = await bucket.head(key)
        if (found === undefined || found.kept_at >= keptBefore) continue
        // A put meanwhile gave it another tag.
        const headers = { 'if-match': found.etag }
        const { status } = await bucket.call('DELETE', key, { headers, allow: [404, 412] })
        if (status === 204) removed++
      }
      return removed
    },
    async drop(appId) {
      keyOf(appId, '0'.repeat(64))
      for await (const key of keys(`${appId}/`)) {
        await bucket.call('DELETE', key, { allow: [404] })
      }
    },
    async *apps() {
      let last
      for await (const key of keys('')) {
        const [app] = key.split('/')
        if (app !== last && app !== 'unfinished') yield app
        last = app
      }
    },
    async close() {},
  }

  async function* read(key, sha256, start, end, isWhole) {
    if (start === end) return
    const headers = { range: `bytes=${start}-${end - 1}` }
    const response = await bucket.call('GET', key, { headers, allow: [404] })
    if (response.status === 404) throw bytesError('bytes_gone')
    const hash = createHash('sha256')
    for await (const chunk of response.body) {
      hash.update(chunk)
      yield chunk
    }
    if (isWhole && hash.digest('hex') !== sha256) throw bytesError('bytes_damaged')
  }
}

function keyOf(appId, sha256) {
  if (!/^[a-z0-9]{8,32}$/.test(appId)) throw new TypeError('no id of an app')
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError('no digest')
  return `${appId}/${sha256}`
}

function requireRange(range) {
  if (range === undefined) return
  const { start, end } = range
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end) return
  throw new TypeError('no range')
}

function digestOf(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}
