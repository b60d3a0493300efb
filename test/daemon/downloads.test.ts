import { createHash } from 'node:crypto'
import t from 'tap'
import { readRange } from '../../daemon/http/conditions.ts'
import { createKnowledge } from '../support/knowledge.ts'

async function contentWorld(t: Parameters<typeof createKnowledge>[0], content: string | Buffer) {
  const world = await createKnowledge(t)
  const [file] = (await world.upload([['a.md', content]])).body.data
  const path = `/v1/apps/${world.app}/files/${file?.id}/content`
  const { key } = await world.mintKey({ scopes: ['files:read'] })
  const tag = `"${createHash('sha256').update(content).digest('hex')}"`
  return {
    ...world,
    path,
    key,
    tag,
    ask: (headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
      fetch(world.baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...headers },
      }),
  }
}

const DIGITS = '0123456789'

await t.test('a range of a file is answered alone', async (t) => {
  const { ask, tag } = await contentWorld(t, DIGITS)
  const parts: readonly (readonly [range: string, body: string, place: string])[] = [
    ['bytes=0-0', '0', '0-0'],
    ['bytes=2-5', '2345', '2-5'],
    ['bytes=7-', '789', '7-9'],
    ['bytes=7-99999999999999999999', '789', '7-9'],
    ['bytes=-3', '789', '7-9'],
    ['bytes=-99', DIGITS, '0-9'],
    ['BYTES=9-9', '9', '9-9'],
    [' bytes=1-1 ', '1', '1-1'],
  ]
  for (const [range, body, place] of parts) {
    const answer = await ask({ range })
    t.equal(await answer.text(), body, range)
    t.match(
      [answer.status, Object.fromEntries(answer.headers)],
      [
        206,
        {
          'content-range': `bytes ${place}/10`,
          'content-length': String(body.length),
          'accept-ranges': 'bytes',
          etag: tag,
          'content-type': 'application/octet-stream',
          'content-disposition': /^attachment/,
          'cache-control': 'no-store',
        },
      ],
      range,
    )
  }
})

await t.test('what is no single range of bytes is answered with all', async (t) => {
  const { ask, tag } = await contentWorld(t, DIGITS)
  for (const range of [
    'bytes=0-1,3-4',
    'bytes=5-2',
    'bytes=-',
    'bytes=a-b',
    'bytes 0-1',
    'bytes=0-1;',
    'chunks=0-1',
    'bytes=0x1-2',
    'bytes=+1-2',
  ]) {
    const answer = await ask({ range })
    t.equal(await answer.text(), DIGITS, range)
    t.equal(answer.status, 200, range)
    t.equal(answer.headers.get('content-range'), null)
    t.equal(answer.headers.get('accept-ranges'), 'bytes')
    t.equal(answer.headers.get('etag'), tag)
  }
})

await t.test('a range beyond the end is refused, and says how long the file is', async (t) => {
  const { ask } = await contentWorld(t, DIGITS)
  for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=99999999999999999999-', 'bytes=-0']) {
    const answer = await ask({ range })
    t.equal(answer.status, 416, range)
    t.equal(answer.headers.get('content-range'), 'bytes */10')
    t.match(answer.headers.get('content-type'), 'application/json')
    t.equal(answer.headers.get('content-disposition'), null)
    t.match(await answer.json(), {
      error: { code: 'range_not_satisfiable', details: { size_bytes: 10 } },
    })
  }
})

await t.test('of an empty file there is no part', (t) => {
  t.equal(readRange('bytes=-5', 0), undefined)
  t.equal(readRange('bytes=0-', 0), 'unsatisfiable')
  t.equal(readRange('', 10), undefined)
  t.end()
})

await t.test('a download goes on where it broke off, if the file is the same', async (t) => {
  const { ask, tag } = await contentWorld(t, DIGITS)
  const range = 'bytes=6-'
  const same = await ask({ range, 'if-range': tag })
  t.match([same.status, await same.text()], [206, '6789'])
  for (const other of ['"another"', `W/${tag}`, 'Sat, 31 Jan 2026 12:00:00 GMT', 'none']) {
    const all = await ask({ range, 'if-range': other })
    t.match([all.status, await all.text()], [200, DIGITS], other)
    const beyond = await ask({ range: 'bytes=99-', 'if-range': other })
    t.equal(beyond.status, 200, 'nor is it beyond the end')
  }
})

await t.test('what a client has already is not sent again', async (t) => {
  const { ask, tag } = await contentWorld(t, DIGITS)
  for (const known of [tag, `W/${tag}`, '*', `"another", ${tag}`]) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask({ 'if-none-match': known, range: 'bytes=99-' }, method)
      t.equal(answer.status, 304, known)
      t.equal(answer.headers.get('etag'), tag)
      t.equal(answer.headers.get('content-type'), null)
      t.equal(await answer.text(), '')
    }
  }
  const other = await ask({ 'if-none-match': '"another"' })
  t.match([other.status, await other.text()], [200, DIGITS])
})

await t.test('HEAD tells of all of it, and sends none', async (t) => {
  const { ask, tag } = await contentWorld(t, DIGITS)
  for (const headers of [{}, { range: 'bytes=2-5' }, { range: 'bytes=99-' }]) {
    const answer = await ask(headers, 'HEAD')
    t.match(
      [answer.status, Object.fromEntries(answer.headers)],
      [200, { 'content-length': '10', etag: tag, 'accept-ranges': 'bytes' }],
    )
    t.equal(answer.headers.get('content-range'), null)
    t.equal(await answer.text(), '')
  }
})

await t.test('a range of a large file crosses the pieces that it lies in', async (t) => {
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251))
  content.write('# text')
  const text = Buffer.from(content.map((byte) => 32 + (byte % 90)))
  const { ask } = await contentWorld(t, text)
  for (const [first, last] of [
    [0, 299_999],
    [65_535, 65_536],
    [16_383, 200_001],
    [262_143, 262_145],
  ] as const) {
    const answer = await ask({ range: `bytes=${first}-${last}` })
    const got = Buffer.from(await answer.arrayBuffer())
    t.ok(got.equals(text.subarray(first, last + 1)), `${first}-${last}`)
  }
})

await t.test('ranges are refused to whom the file is', async (t) => {
  const { request, path, newApp, mintKey } = await contentWorld(t, DIGITS)
  const { key } = await mintKey({ scopes: ['files:read'], apps: [await newApp()] })
  const headers = { range: 'bytes=99-', 'if-none-match': '*' }
  t.match(await request('GET', path, { as: key, headers }), {
    status: 404,
    body: { error: { code: 'app_not_found' } },
  })
})
