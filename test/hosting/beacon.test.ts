import { createHash, randomBytes } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Test } from 'tap'
import t from 'tap'
import { createBeaconPages } from '../../daemon/hosting/beacon/pages.ts'
import { createMemoryBytes } from '../../plugins/apps/memory.ts'
import { html, plain } from '../support/hosted-apps.ts'
import { manifestOf, keepTree } from '../support/hosted-apps.ts'
import type { Published } from '../support/hosting.ts'
import { openHosting } from '../support/hosting.ts'
import type { RawAnswer } from '../support/raw-http.ts'
import { openRaw } from '../support/raw-http.ts'
import { ask } from './rows/row.ts'

const TAG = '<script src="/_p/obs.js"></script>'
const HTML = 'text/html; charset=utf-8'
const HOST = 'shop.localhost'

/** Larger than what is held in memory. */
const LARGE = Buffer.concat([
  Buffer.from('<!doctype html><head><title>Large</title></head><pre>'),
  Buffer.from(randomBytes(300_000).toString('hex')),
])

const TREE = {
  'index.html': html('shop'),
  'large.html': plain(LARGE, HTML),
  '404.html': html('lost'),
  'fragment.html': plain('<li>One</li>', HTML),
  'same/index.html': plain('<li>One</li>', HTML),
  'strict.html': plain(
    `<!doctype html><meta http-equiv=content-security-policy content="script-src 'none'">`,
    HTML,
  ),
  'page.xhtml': plain(
    '<html xmlns="http://www.w3.org/1999/xhtml"><head/></html>',
    'application/xhtml+xml',
  ),
  'picture.svg': plain('<svg><head></head></svg>', 'image/svg+xml'),
  'app.js': plain('"<head>"', 'text/javascript; charset=utf-8'),
  'text.txt': plain('<html><head>'),
}

async function open(test: Test, given: Partial<Published> = {}) {
  const hosting = await openHosting(test)
  await hosting.publish(HOST, { app_id: 'shop0001', tree: TREE, ...given })
  const get = async (
    path: string,
    headers: Readonly<Record<string, string>> = {},
    method = 'GET',
  ): Promise<RawAnswer> => {
    const connection = await openRaw(hosting.port)
    connection.send(ask(method, path, { Host: HOST, ...headers }))
    const answer = await connection.answer(method === 'HEAD')
    connection.destroy()
    if (answer === undefined) throw new Error(`${path} was not answered`)
    return answer
  }
  return { ...hosting, get }
}

const one = (answer: RawAnswer, name: string): string | undefined =>
  answer.headers.get(name)?.join()

const tagOf = (body: Uint8Array): string => `"${createHash('sha256').update(body).digest('hex')}"`

/** A page as it is sent: its own bytes with the beacon in them. */
const carrying = (page: Buffer): Buffer => {
  const at = page.indexOf('<title>')
  return Buffer.concat([page.subarray(0, at), Buffer.from(TAG), page.subarray(at)])
}
const SHOP = carrying(TREE['index.html'].body)
const BIG = Buffer.from(LARGE.toString().replace('<head>', `<head>${TAG}`))

for (const [path, page] of [
  ['/', SHOP],
  ['/large', BIG],
] as const) {
  await t.test(
    `tags, ranges and lengths are those of the page as it is sent: ${path}`,
    async (t) => {
      const { get, served } = await open(t)
      const whole = await get(path)
      t.ok(whole.body.equals(page))
      const etag = one(whole, 'etag') ?? ''
      t.equal(etag, tagOf(page))
      t.equal(one(whole, 'content-length'), String(page.length))
      const head = await get(path, {}, 'HEAD')
      for (const name of ['etag', 'content-length', 'content-type', 'vary', 'accept-ranges']) {
        t.equal(one(head, name), one(whole, name), name)
      }
      t.equal((await get(path, { 'If-None-Match': etag })).status, 304)
      const before = tagOf(path === '/' ? TREE['index.html'].body : LARGE)
      t.equal(
        (await get(path, { 'If-None-Match': before })).status,
        200,
        'its kept bytes are others',
      )
      t.equal((await get(path, { 'If-Match': before })).status, 412)

      const at = page.indexOf(TAG)
      const cuts = [0, 1, at - 1, at, at + 1, at + TAG.length - 1, at + TAG.length, at + 60]
      for (const start of cuts) {
        for (const end of [...cuts, page.length].filter((cut) => cut > start)) {
          const answer = await get(path, { Range: `bytes=${start}-${end - 1}`, 'If-Range': etag })
          t.equal(answer.status, 206)
          t.equal(one(answer, 'content-range'), `bytes ${start}-${end - 1}/${page.length}`)
          t.ok(answer.body.equals(page.subarray(start, end)), `${start} to ${end}`)
        }
      }
      const last = await get(path, { Range: 'bytes=-9' })
      t.ok(last.body.equals(page.subarray(-9)))
      t.equal(
        one(await get(path, { Range: `bytes=${page.length}-` }), 'content-range'),
        `bytes */${page.length}`,
      )
      t.equal(served[0]?.bytes, page.length, 'what is counted is what was sent')
    },
  )
}

await t.test('compressed forms hold the beacon too, each with a tag of its own', async (t) => {
  const { get } = await open(t)
  const tags = new Set<string | undefined>([tagOf(SHOP)])
  const decode = { br: brotliDecompressSync, gzip: gunzipSync }
  for (const encoding of ['br', 'gzip'] as const) {
    const asked = { 'Accept-Encoding': encoding }
    const answers = await Promise.all([get('/', asked), get('/', asked), get('/', asked)])
    for (const answer of answers) {
      t.equal(one(answer, 'content-encoding'), encoding)
      t.ok(decode[encoding](answer.body).equals(SHOP))
      t.equal(one(answer, 'etag'), tagOf(answer.body))
      t.equal(one(answer, 'vary'), 'Accept-Encoding')
    }
    const [{ body }] = answers
    tags.add(tagOf(body))
    const part = await get('/', { ...asked, Range: 'bytes=3-20' })
    t.equal(part.status, 206)
    t.ok(part.body.equals(body.subarray(3, 21)))
  }
  t.equal(tags.size, 3)
})

await t.test('a page for what is missing carries it, and nothing that is no page', async (t) => {
  const { get } = await open(t)
  const missing = await get('/nowhere')
  t.equal(missing.status, 404)
  t.ok(missing.body.equals(carrying(TREE['404.html'].body)))
  t.equal((await get('/same/')).body.toString(), `${TAG}<li>One</li>`, 'it is served for a folder')
  for (const path of [
    'fragment.html',
    'strict.html',
    'page.xhtml',
    'picture.svg',
    'app.js',
    'text.txt',
  ] as const) {
    const answer = await get(`/${path}`)
    t.ok(answer.body.equals(TREE[path].body), path)
    t.equal(one(answer, 'etag'), tagOf(TREE[path].body), path)
  }
})

const FRAGMENT = TREE['fragment.html'].body
const SHOWN = Buffer.concat([Buffer.from(TAG), FRAGMENT])

await t.test('a fragment carries it where the browser shows it as a page', async (t) => {
  const { get } = await open(t)
  const to = (destination: string): Readonly<Record<string, string>> => ({
    'Sec-Fetch-Dest': destination,
  })
  for (const [destination, expected] of [
    ['document', SHOWN],
    ['iframe', SHOWN],
    ['frame', SHOWN],
    ['empty', FRAGMENT],
    ['script', FRAGMENT],
  ] as const) {
    for (const path of ['/fragment', '/fragment.html', '/same/']) {
      const answer = await get(path, to(destination))
      t.ok(answer.body.equals(expected), `${path} as ${destination}`)
      t.equal(one(answer, 'etag'), tagOf(expected))
      t.equal(one(answer, 'content-length'), String(expected.length))
      t.match(one(answer, 'vary'), /\bSec-Fetch-Dest$/)
    }
  }
  t.match(one(await get('/fragment'), 'vary'), /\bSec-Fetch-Dest$/, 'who does not say')
  t.ok((await get('/', to('empty'))).body.equals(SHOP), 'a whole page is one, whoever fetches it')
  t.equal(one(await get('/', to('empty')), 'vary'), one(await get('/'), 'vary'))
  const shop = one(await get('/', to('document')), 'vary')
  t.notMatch(shop ?? '', 'Sec-Fetch-Dest', 'it is the same for all')
})

await t.test('parts and conditions of a fragment are those of how it is sent', async (t) => {
  const { get } = await open(t)
  for (const [destination, own, other] of [
    ['document', SHOWN, FRAGMENT],
    ['empty', FRAGMENT, SHOWN],
  ] as const) {
    const asked = { 'Sec-Fetch-Dest': destination }
    const same = await get('/fragment', { ...asked, 'If-None-Match': tagOf(own) })
    t.equal(same.status, 304)
    t.equal(one(same, 'etag'), tagOf(own))
    t.match(one(same, 'vary'), /\bSec-Fetch-Dest$/)
    t.equal((await get('/fragment', { ...asked, 'If-None-Match': tagOf(other) })).status, 200)
    t.equal((await get('/fragment', { ...asked, 'If-Match': tagOf(other) })).status, 412)
    const part = await get('/fragment', { ...asked, Range: 'bytes=3-9', 'If-Range': tagOf(own) })
    t.equal(part.status, 206)
    t.equal(one(part, 'content-range'), `bytes 3-9/${own.length}`)
    t.ok(part.body.equals(own.subarray(3, 10)))
    const whole = await get('/fragment', { ...asked, Range: 'bytes=3-9', 'If-Range': tagOf(other) })
    t.equal(whole.status, 200)
    t.ok(whole.body.equals(own))
    for (const [encoding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const answer = await get('/fragment', { ...asked, 'Accept-Encoding': encoding })
      t.ok((one(answer, 'content-encoding') ? decode(answer.body) : answer.body).equals(own))
      t.equal(one(answer, 'etag'), tagOf(answer.body))
    }
  }
})

await t.test('a preview carries it, and no app whose owner opted out', async (t) => {
  const preview = await open(t, { preview: true })
  t.ok((await preview.get('/')).body.equals(SHOP))
  const { get } = await open(t, { observe: false })
  for (const [path, file] of [
    ['/', 'index.html'],
    ['/large', 'large.html'],
  ] as const) {
    t.ok((await get(path)).body.equals(TREE[file].body))
    t.equal(one(await get(path), 'etag'), tagOf(TREE[file].body))
    t.equal(one(await get(path), 'reporting-endpoints'), undefined)
  }
})

await t.test('what is kept of an app is never changed', async (t) => {
  const { get, bytes } = await open(t)
  await get('/')
  await get('/', { 'Accept-Encoding': 'br' })
  const { sha256 } = manifestOf(TREE).files.get('index.html') ?? { sha256: '' }
  t.ok(TREE['index.html'].body.equals((await bytes.get('shop0001', sha256)) ?? new Uint8Array()))
  t.equal(
    await bytes.get('shop0001', tagOf(SHOP).slice(1, -1)),
    undefined,
    'nothing is kept of what is sent',
  )
})

await t.test('a page that is gone or damaged is not sent as if it were whole', async (t) => {
  const { get, sites, failures } = await open(t)
  const site = sites.get(HOST)
  if (typeof site !== 'object') throw new Error('no site')
  const files = new Map(site.manifest.files)
  for (const [path, file] of files) files.set(path, { ...file, sha256: '0'.repeat(64) })
  sites.set(HOST, { ...site, manifest: { ...site.manifest, files } })
  const answer = await get('/')
  t.equal(answer.status, 503)
  t.equal(one(answer, 'retry-after'), '5')
  t.match(failures, [{ app_id: 'shop0001' }])
})

await t.test('pages are read once, and memory for them is bounded', async (t) => {
  const memory = createMemoryBytes({ clock: { now: Date.now } })
  await keepTree(memory, 'shop0001', TREE)
  const opened: string[] = []
  const bytes: Pick<typeof memory, 'open'> = {
    async open(appId, sha256, range) {
      opened.push(`${sha256} ${range === undefined ? 'all' : 'part'}`)
      return memory.open(appId, sha256, range)
    },
  }
  const { files } = manifestOf(TREE)
  const pageOf = (path: keyof typeof TREE) => {
    const file = files.get(path)
    if (file === undefined) throw new Error(`no ${path}`)
    return { file, form: { encoding: 'identity' as const, sha256: file.sha256, size: file.size } }
  }
  const pages = createBeaconPages(bytes, false, {
    small: 1000,
    total: 2500,
    waiting: 300,
    reading: 1_000_000,
  })
  const find = async (path: keyof typeof TREE, encoding: 'identity' | 'br' = 'identity') => {
    const { file, form } = pageOf(path)
    return pages.find('shop0001', file, { ...form, encoding })
  }
  await Promise.all([find('index.html'), find('index.html'), find('index.html')])
  await find('index.html')
  t.equal(opened.length, 1, 'once for all who ask')
  t.equal((await find('large.html')).made, undefined, 'a large page is not held')
  t.equal(
    (await find('large.html', 'br')).encoding,
    'identity',
    'nor compressed while too much waits',
  )
  t.equal(opened.length, 2)
  t.equal((await find('index.html', 'br')).encoding, 'br')
  await find('404.html')
  await find('index.html')
  t.ok(opened.length > 3, 'what was asked for longest ago has gone')
})
