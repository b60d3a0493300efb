import { createHash } from 'node:crypto'
import t from 'tap'
import { SECOND } from '../../lib/time.ts'
import { PATH, boxWorld, send } from '../support/box-world.ts'
import { createClock } from '../support/clock.ts'
import type { SentPart } from '../support/multipart.ts'
import { BOUNDARY, MULTIPART, beginPouring, bodyOf, headerOf } from '../support/multipart.ts'
import { until } from '../support/processing.ts'
import { signal } from '../support/signal.ts'

const MIB = 1_048_576
const digest = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

await t.test('files and texts come in as they were sent', async (t) => {
  const { world, bearer } = await boxWorld(t)
  const binary = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 256))
  const tricky = `\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n-- --${BOUNDARY}x`
  const form = new FormData()
  form.append('file', new Blob([binary]), 'ü nicode".bin')
  form.append('note', 'zu früh')
  form.append('file', new Blob([]), 'empty')
  form.append('file', new Blob([tricky]), '../../etc/passwd')
  t.match(await send(world, form, bearer), {
    status: 200,
    body: {
      files: [
        { name: 'ü nicode%22.bin', size: 200_000, sha256: digest(binary) },
        { name: 'empty', size: 0, sha256: digest('') },
        { name: '../../etc/passwd', sha256: digest(tricky) },
      ],
      refused: [],
      notes: ['zu früh'],
    },
  })
})

await t.test(
  'a file beyond its limit is refused by itself, and the others are taken',
  async (t) => {
    const { world, bearer } = await boxWorld(t)
    const parts = [
      { name: 'file', filename: 'large', content: Buffer.alloc(MIB + 1) },
      { name: 'file', filename: 'ignored', content: Buffer.alloc(MIB) },
      { name: 'file', filename: 'full', content: Buffer.alloc(MIB) },
    ]
    t.match(await send(world, bodyOf(parts), { ...bearer, ...MULTIPART }), {
      status: 200,
      body: {
        files: [{ name: 'full', size: MIB }],
        refused: [{ name: 'large', code: 'payload_too_large' }],
      },
    })
  },
)

const FILE: SentPart = { name: 'file', filename: 'a', content: 'a' }
const REFUSED: readonly (readonly [
  what: string,
  body: Uint8Array,
  code: string,
  location?: string,
])[] = [
  ['no part', bodyOf([]), 'invalid_request', 'body.file'],
  ['no file', bodyOf([{ name: 'note', content: 'a' }]), 'invalid_request', 'body.file'],
  ['another name', bodyOf([FILE, { ...FILE, name: 'files' }]), 'invalid_request', 'body.files'],
  [
    'a name of objects',
    bodyOf([{ ...FILE, name: 'toString' }]),
    'invalid_request',
    'body.toString',
  ],
  ['no name', bodyOf([{ filename: 'a' }]), 'invalid_request', 'body.'],
  ['no filename', bodyOf([{ name: 'file' }]), 'invalid_request', 'body.file'],
  ['a file for a text', bodyOf([{ ...FILE, name: 'note' }]), 'invalid_request', 'body.note'],
  ['too many files', bodyOf([FILE, FILE, FILE, FILE]), 'invalid_request', 'body.file'],
  [
    'too long a text',
    bodyOf([FILE, { name: 'note', content: 'x'.repeat(101) }]),
    'payload_too_large',
  ],
  ['nothing at all', Buffer.alloc(0), 'invalid_multipart'],
  ['no boundary in it', Buffer.from('some text'), 'invalid_multipart'],
  ['no end', bodyOf([FILE], ''), 'invalid_multipart'],
  ['an end in a file', bodyOf([FILE]).subarray(0, -8), 'invalid_multipart'],
  ['an end in a header', Buffer.from(`--${BOUNDARY}\r\nContent-Dispo`), 'invalid_multipart'],
  ['a header that is none', bodyOf([{ header: 'no colon' }]), 'invalid_multipart'],
  [
    'a header without end',
    bodyOf([{ header: `${headerOf(FILE)}; x="${'x'.repeat(17_000)}"` }]),
    'invalid_multipart',
  ],
  [
    '10,000 parts of no kind',
    bodyOf(Array.from({ length: 10_000 }, () => ({ header: 'a: b' }))),
    'invalid_multipart',
  ],
  [
    '10,000 texts',
    bodyOf(Array.from({ length: 10_000 }, () => ({ name: 'note', content: 'a' }))),
    'invalid_request',
    'body.note',
  ],
]

await t.test('a body that is not as declared is refused, and carries out nothing', async (t) => {
  const { world, bearer, filling } = await boxWorld(t)
  for (const [what, body, code, location] of REFUSED) {
    const errors = location === undefined ? [] : [{ location }]
    const status = code === 'payload_too_large' ? 413 : 400
    const answer = await send(world, body, { ...bearer, ...MULTIPART })
    t.match(answer, { status, body: { error: { code, errors } } }, what)
  }
  const types: readonly (readonly [Readonly<Record<string, string>>, number, string])[] = [
    [{ 'content-type': 'multipart/form-data' }, 400, 'invalid_multipart'],
    [{ 'content-type': 'application/json' }, 415, 'unsupported_media_type'],
    [{ ...MULTIPART, 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
  ]
  for (const [headers, status, code] of types) {
    const answer = await send(world, bodyOf([FILE]), { ...bearer, ...headers })
    t.match(answer, { status, body: { error: { code } } }, JSON.stringify(headers))
  }
  t.match(filling, { reading: 0, committed: 0 })
  t.match(await send(world, bodyOf([FILE]), { ...bearer, ...MULTIPART }), { status: 200 })
})

await t.test('nobody sends a byte of a body before they are let in', async (t) => {
  const { world } = await boxWorld(t)
  const { key } = await world.mintKey({ scopes: ['keys:read'] })
  const begun = { ...MULTIPART, 'content-length': '1000' }
  const nobody = await beginPouring(world, PATH, begun)
  t.match(await nobody.answer, /^HTTP\/1\.1 401[^]*missing_credentials/)
  const stranger = await beginPouring(world, PATH, { ...begun, authorization: `Bearer ${key}` })
  t.match(await stranger.answer, /^HTTP\/1\.1 403[^]*insufficient_scope/)
})

await t.test(
  'a body beyond all limits is refused when announced, and while it comes',
  async (t) => {
    const { world, bearer, filling } = await boxWorld(t)
    const headers = { ...bearer, ...MULTIPART }
    const announced = await beginPouring(world, PATH, {
      ...headers,
      'content-length': String(4 * MIB),
    })
    t.match(await announced.answer, /^HTTP\/1\.1 413[^]*payload_too_large/)

    const poured = await beginPouring(world, PATH, headers)
    poured.pour(`--${BOUNDARY}\r\n${headerOf(FILE)}\r\n\r\n`)
    for (let chunks = 0; chunks < 64; chunks++) poured.pour(Buffer.alloc(65_536))
    t.match(await poured.answer, /^HTTP\/1\.1 413[^]*payload_too_large/)
    t.match(filling, { reading: 0, committed: 0 })
  },
)

await t.test('a client that goes away leaves nothing behind', async (t) => {
  const { world, bearer, filling } = await boxWorld(t)
  for (const begun of [
    '',
    `--${BOUNDARY}\r\nContent-`,
    `--${BOUNDARY}\r\n${headerOf(FILE)}\r\n\r\na`,
  ]) {
    const { socket, pour } = await beginPouring(world, PATH, { ...bearer, ...MULTIPART })
    if (begun !== '') pour(begun)
    if (begun.endsWith('a')) await until(() => filling.reading === 1)
    socket.destroy()
    await until(() => filling.reading === 0)
  }
  const short = await beginPouring(world, PATH, {
    ...bearer,
    ...MULTIPART,
    'content-length': '1000',
  })
  short.pour(bodyOf([FILE]))
  await until(() => filling.reading === 0)
  short.socket.destroy()
  t.match(await send(world, bodyOf([FILE]), { ...bearer, ...MULTIPART }), { status: 200 })
  t.equal(filling.committed, 1)
})

await t.test('a body that stops coming is given up', async (t) => {
  const clock = createClock(Date.parse('2026-01-31T12:00:00Z'))
  const { world, filling } = await boxWorld(t, {}, { clock })
  const { key } = await world.mintKey({ scopes: ['boxes:write'] })
  const { pour, answer } = await beginPouring(world, PATH, {
    ...MULTIPART,
    authorization: `Bearer ${key}`,
  })
  pour(`--${BOUNDARY}\r\n${headerOf(FILE)}\r\n\r\na`)
  await until(() => filling.reading === 1)
  await clock.advance(30 * SECOND)
  t.equal(filling.reading, 1, 'there was a byte')
  await clock.advance(30 * SECOND)
  t.match(await answer, /^HTTP\/1\.1 408[^]*body_too_slow/)
  t.equal(filling.reading, 0)
})

await t.test('a key that is revoked while its upload comes in changes nothing', async (t) => {
  const { world, bearer, keyId, filling } = await boxWorld(t)
  const { pour, end, answer } = await beginPouring(world, PATH, { ...bearer, ...MULTIPART })
  const body = bodyOf([FILE])
  pour(body.subarray(0, -10))
  await until(() => filling.reading === 1)
  await world.request('DELETE', `/v1/keys/${keyId}`)
  pour(body.subarray(-10))
  end()
  t.match(await answer, /^HTTP\/1\.1 401[^]*key_revoked/)
  t.equal(filling.committed, 0)
})

await t.test('an upload is read no faster than it is taken, and held nowhere', async (t) => {
  const { world, bearer, filling } = await boxWorld(t, { file: 25 * MIB, most: 20 })
  const { promise: held, resolve: go } = signal()
  let peak = 0
  filling.onChunk = () => {
    peak = Math.max(peak, process.memoryUsage().arrayBuffers)
    return held
  }
  const { pour, end, socket, answer } = await beginPouring(world, PATH, { ...bearer, ...MULTIPART })
  const chunk = Buffer.alloc(65_536, 'x')
  const before = process.memoryUsage().arrayBuffers
  const files = 8
  const file = [`--${BOUNDARY}\r\n${headerOf(FILE)}\r\n\r\n`, '\r\n'] as const
  for (let count = 0; count < files; count++) {
    pour(file[0])
    for (let size = 0; size < 25 * MIB; size += chunk.length) pour(chunk)
    pour(file[1])
  }
  pour(`--${BOUNDARY}--\r\n`)
  end()
  await until(() => filling.reading === 1)
  let taken = -1
  await until(() => {
    const now = socket.bytesWritten - socket.writableLength
    const still = now === taken
    taken = now
    return still
  })
  t.ok(taken < 25 * MIB, `${taken} bytes went into buffers on the way`)
  go()
  t.match(await answer, /^HTTP\/1\.1 200/)
  t.equal(filling.committed, 1)
  t.ok(peak - before < (files * 25 * MIB) / 2, `${peak - before} bytes were held at most`)
})

await t.test('an upload under an Idempotency-Key is carried out once', async (t) => {
  const { world, bearer, filling } = await boxWorld(t)
  const headers = { ...bearer, 'idempotency-key': 'one' }
  // Each form draws a boundary of its own.
  const formOf = (files: Readonly<Record<string, string>>): FormData => {
    const form = new FormData()
    for (const [name, content] of Object.entries(files)) {
      form.append('file', new Blob([content]), name)
    }
    return form
  }
  const given = { a: 'abc', ignored: 'def', large: 'g'.repeat(MIB + 1) }
  const first = await send(world, formOf(given), headers)
  t.match(first, { status: 200, body: { files: [{ name: 'a', sha256: digest('abc') }] } })
  const again = await send(world, formOf(given), headers)
  t.same(again.body, first.body)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(filling.committed, 1)

  const others = {
    'another length': { ...given, a: 'abcd' },
    'another content of the same length': { ...given, a: 'abd' },
    'another content of what is not read': { ...given, ignored: 'deg' },
    'another name': { b: 'abc', ignored: 'def', large: given.large },
    'one file less': { a: 'abc', ignored: 'def' },
    'another order': { ignored: 'def', a: 'abc', large: given.large },
  }
  for (const [what, files] of Object.entries(others)) {
    const other = await send(world, formOf(files), headers)
    t.match(other, { status: 422, body: { error: { code: 'idempotency_mismatch' } } }, what)
  }
  t.equal(filling.committed, 1)
})
