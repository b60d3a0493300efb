import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import Koa from 'koa'
import t from 'tap'
import type { Test } from 'tap'
import { readConfig } from '../../daemon/config/config.ts'
import type { RequestState, Step } from '../../daemon/http/state.ts'
import { brandStyle, contrast } from '../../daemon/studio/brand.ts'
import type { BuiltStudio } from '../../daemon/studio/files.ts'
import { builtFile, readStudio } from '../../daemon/studio/files.ts'
import { servePortal, serveStudio } from '../../daemon/studio/serve.ts'

const SCRIPT = 'console.log(1)'.repeat(50)
const built: BuiltStudio = {
  page: '<base href="{{base}}"><title>{{name}} Studio</title>',
  portal: '<base href="{{base}}"><title>{{name}}</title>',
  assets: new Map(
    ['index-a1.js', 'style-a1.css', 'icon-a1.svg'].map((name) => [
      name,
      builtFile({ br: brotliCompressSync(SCRIPT), gzip: gzipSync(SCRIPT) }),
    ]),
  ),
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends the path as it is written; nothing decodes the body. */
type Ask = (path: string, asking?: Asking) => Promise<Answer>

async function serve(
  t: Pick<Test, 'teardown'>,
  { baseUrl = 'http://127.0.0.1:8420', read = () => Promise.resolve(built), previews = '' } = {},
): Promise<Ask> {
  const given = { brand: 'service', color: '#3b5bdb', baseUrl, read }
  return listen(t, serveStudio({ ...given, previews: previews === '' ? undefined : previews }))
}

async function listen(t: Pick<Test, 'teardown'>, ...steps: readonly Step[]): Promise<Ask> {
  const app = new Koa<RequestState>()
  for (const step of steps) app.use(step)
  const handler = app.callback()
  const server = createServer((incoming, outgoing) => void handler(incoming, outgoing))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return (path, { method = 'GET', headers = {} } = {}) =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          const { statusCode: status = 0, headers: received } = response
          resolve({ status, headers: received, body: Buffer.concat(parts) })
        })
      })
      sent.on('error', reject)
      sent.end()
    })
}

await t.test('every address of Studio is the page, which nobody keeps or frames', async (t) => {
  const ask = await serve(t)
  for (const path of ['/studio', '/studio/', '/studio/keys', '/studio/webhooks/a/deliveries/b']) {
    const { status, headers, body } = await ask(path)
    t.equal(status, 200, path)
    t.equal(headers['content-type'], 'text/html; charset=utf-8')
    t.equal(headers['cache-control'], 'no-store')
    t.equal(String(body), '<base href="/studio/"><title>Service Studio</title>')
  }
  const { headers } = await ask('/studio')
  const policy = String(headers['content-security-policy'])
  t.notMatch(policy, /unsafe|nonce|sha256|data:|blob:|https?:|\*/, 'nothing inline, no other host')
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-src 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ]) {
    t.match(policy, part)
  }
  t.match(headers, {
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  })
})

await t.test('previews of apps may be shown in frames, and no other page', async (t) => {
  const ask = await serve(t, { previews: 'https://*.apps.example.net' })
  const { headers } = await ask('/studio/apps/a')
  const policy = String(headers['content-security-policy'])
  t.match(policy, '; frame-src https://*.apps.example.net; ')
  t.notMatch(policy.replace('https://*.apps.example.net', ''), /unsafe|data:|blob:|https?:|\*/)
})

async function framedBy(t: Test, frameAncestors: readonly string[]): Promise<Ask> {
  const given = { brand: 'service', color: '#3b5bdb', baseUrl: 'http://127.0.0.1:8420' }
  const read = () => Promise.resolve(built)
  return listen(t, serveStudio({ ...given, read }), servePortal({ ...given, read, frameAncestors }))
}

await t.test(
  'the portal is framed by the origins that are named, and Studio by none',
  async (t) => {
    const named = ['https://app.example.com', 'http://localhost:3000']
    const ask = await framedBy(t, named)
    for (const path of ['/portal', '/portal/', '/portal/keys', '/portal/webhooks/a/deliveries/b']) {
      const { status, headers, body } = await ask(path)
      t.equal(status, 200, path)
      t.equal(headers['cache-control'], 'no-store')
      t.equal(String(body), '<base href="/portal/"><title>Service</title>')
      const policy = String(headers['content-security-policy'])
      t.match(policy, `; frame-ancestors ${named.join(' ')}; `)
      t.match(policy, "script-src 'self'")
      t.match(policy, "frame-src 'none'")
      t.notMatch(policy, /unsafe|nonce|data:|blob:|\*/)
      t.equal(headers['x-frame-options'], undefined, 'older browsers could not follow it')
    }
    for (const path of [
      '/studio',
      '/studio/keys',
      '/portal/assets/index-a1.js',
      '/portal/brand.css',
    ]) {
      const { status, headers } = await ask(path)
      t.equal(status, 200, path)
      t.match(headers['content-security-policy'], "frame-ancestors 'none'", path)
      t.equal(headers['x-frame-options'], 'DENY', path)
    }
    for (const path of ['/portals', '/portal/index.html', '/portal/assets/none.js']) {
      t.equal((await ask(path)).status, 404, path)
    }
  },
)

await t.test('without named origins nobody frames the portal', async (t) => {
  const { headers } = await (await framedBy(t, []))('/portal')
  t.match(headers['content-security-policy'], "frame-ancestors 'none'")
  t.equal(headers['x-frame-options'], 'DENY')
})

await t.test('origins that frame the portal are exact', (t) => {
  const of = (text: string) => readConfig({ KEYHOOK_PORTAL_FRAME_ANCESTORS: text })
  t.strictSame(of('').portalFrameAncestors, [])
  const good = ['https://app.example.com', 'https://a.example:8443', 'http://localhost:3000']
  t.strictSame(of(good.join(', ')).portalFrameAncestors, good)
  for (const bad of [
    '*',
    'https:',
    'https://*.example.com',
    'https://app.example.com/',
    'https://app.example.com/path',
    'http://app.example.com',
    'https://user@app.example.com',
    "https://a.example; script-src 'unsafe-inline'",
    'https://a.example\r\nset-cookie: a=b',
    'null',
    'data:text/html,a',
    'javascript:alert(1)',
    Array.from({ length: 51 }, (_, at) => `https://a${at}.example`).join(','),
  ]) {
    t.throws(() => of(bad), /KEYHOOK_PORTAL_FRAME_ANCESTORS/, bad.slice(0, 40))
  }
  t.end()
})

await t.test('a hashed file is kept for ever, in the encoding that was asked for', async (t) => {
  const ask = await serve(t)
  const path = '/studio/assets/index-a1.js'
  const rows = [
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip;q=1, br;q=0', 'gzip', gunzipSync],
    ['gzip', 'gzip', gunzipSync],
    ['', undefined, (body: Buffer) => body],
    ['identity', undefined, (body: Buffer) => body],
    ['br;q=0, *;q=0', undefined, (body: Buffer) => body],
  ] as const
  for (const [accepted, encoding, decode] of rows) {
    const { status, headers, body } = await ask(path, { headers: { 'accept-encoding': accepted } })
    t.equal(status, 200, accepted)
    t.equal(headers['content-encoding'], encoding, accepted)
    t.equal(headers['content-length'], String(body.length))
    t.equal(headers.vary, 'Accept-Encoding')
    t.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    t.equal(String(decode(body)), SCRIPT)
  }
  const { body, headers } = await ask(path, { method: 'HEAD' })
  t.equal(body.length, 0)
  t.equal(headers['content-type'], 'text/javascript; charset=utf-8')
  const types = { 'style-a1.css': 'text/css; charset=utf-8', 'icon-a1.svg': 'image/svg+xml' }
  for (const [name, type] of Object.entries(types)) {
    t.equal((await ask(`/studio/assets/${name}`)).headers['content-type'], type)
  }
})

await t.test('nothing else is served', async (t) => {
  const ask = await serve(t)
  for (const path of [
    '/studio/assets/unknown-a1.js',
    '/studio/assets/',
    '/studio/assets/index-a1.js.br',
    '/studio/assets/../index.html',
    '/studio/assets/..%2findex.html',
    '/studio/assets/%2e%2e/package.json',
    '/studio/assets/__proto__',
    '/studio/../../../../etc/passwd',
    '/studio/index.html',
    '/studio/keys.php',
    '/studios',
    '/studio-x',
    '//studio',
    '/Studio',
  ]) {
    t.equal((await ask(path)).status, 404, path)
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    t.equal((await ask('/studio', { method })).status, 404, method)
  }
})

await t.test('a path of the address, and markup in it, end in the page', async (t) => {
  const ask = await serve(t, { baseUrl: "https://example.com/a&b'c/" })
  t.match(String((await ask('/studio')).body), '<base href="/a&#38;b&#39;c/studio/">')
})

await t.test('an installation without Studio has no such page', async (t) => {
  const ask = await serve(t, { read: () => readStudio(`${t.testdir()}/none/`) as never })
  t.equal((await ask('/studio')).status, 404)
})

await t.test('the colour of the brand can be read in both themes, whatever it is', async (t) => {
  const ask = await serve(t)
  const { status, headers, body } = await ask('/studio/brand.css')
  t.equal(status, 200)
  t.equal(headers['content-type'], 'text/css; charset=utf-8')
  t.equal(String(body), brandStyle('#3b5bdb'))
  const again = { headers: { 'if-none-match': String(headers.etag) } }
  t.equal((await ask('/studio/brand.css', again)).status, 304)
  for (const color of ['#ffffff', '#000000', '#ffd43b', '#ff0000', '#00ff00', '#3b5bdb']) {
    const style = brandStyle(color)
    const [, filled = ''] = /--accent: (#\w{6});/.exec(style) ?? []
    const [, onDark = ''] = /--accent-text: light-dark\(#\w{6}, (#\w{6})\);/.exec(style) ?? []
    t.ok(contrast(rgb(filled), [255, 255, 255]) >= 4.5, `${color} below white text: ${filled}`)
    t.ok(contrast(rgb(onDark), rgb('#202328')) >= 4.5, `${color} on the dark theme: ${onDark}`)
  }
})

function rgb(color: string): readonly [number, number, number] {
  const part = (at: number): number => Number.parseInt(color.slice(at, at + 2), 16)
  return [part(1), part(3), part(5)]
}

await t.test('what was built has a small first load', async (t) => {
  const studio = await readStudio()
  const page = studio?.page ?? ''
  t.notMatch(page, /<style|\sstyle=|<script(?![^>]*src=)|\son\w+=|https?:/, 'nothing inline')
  const first = [...page.matchAll(/(?:src|href)="\.\/assets\/([^"]+)"/g)].map(
    ([, name = '']) => name,
  )
  t.ok(first.some((name) => name.endsWith('.js')) && first.some((name) => name.endsWith('.css')))
  const bytes = first.reduce((sum, name) => sum + (studio?.assets.get(name)?.gzip.length ?? 1e9), 0)
  t.ok(bytes <= 250_000, `${bytes} bytes`)
  t.notOk(
    [...(studio?.assets.keys() ?? [])].some((name) => name.endsWith('.map')),
    'no source maps',
  )
})

await t.test('who accepts no encoding costs one decompression in all', async (t) => {
  const file = builtFile({ br: brotliCompressSync(SCRIPT), gzip: gzipSync(SCRIPT) })
  const [first, ...others] = await Promise.all([file.plain(), file.plain(), file.plain()])
  t.equal(String(first), SCRIPT)
  t.ok(others.every((one) => one === first))
})

await t.test('a read that fails is tried again by the next request', async (t) => {
  let reads = 0
  const read = () => {
    reads += 1
    return reads === 1 ? Promise.reject(new Error('EMFILE')) : Promise.resolve(built)
  }
  const ask = await serve(t, { read })
  t.equal((await ask('/studio')).status, 500)
  t.equal((await ask('/studio')).status, 200)
  t.equal((await ask('/studio')).status, 200)
  t.equal(reads, 2)
})
