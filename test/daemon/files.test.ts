import t from 'tap'
import { cleanName } from '../../daemon/families/files/keep.ts'
import type { FileProcessor } from '../../plugins/files/contract.ts'
import type { KnowledgeFile, Uploaded } from '../support/knowledge.ts'
import { createKnowledge, formOf } from '../support/knowledge.ts'
import type { AnyBody } from '../support/world.ts'

const MIB = 1_048_576

await t.test('a file is taken, listed, read and downloaded as it was', async (t) => {
  const { request, app, upload, baseUrl, mintKey } = await createKnowledge(t)
  const content = '# Hours\n\nNine to five.\n'
  const taken = await upload([['ö ffnungszeiten.md', content]])
  t.match(taken, { status: 202, body: { errors: [] } })
  const [file] = taken.body.data
  t.match(file, {
    app_id: app,
    name: 'ö ffnungszeiten.md',
    content_type: 'text/markdown',
    size_bytes: content.length,
    status: 'queued',
    stage: null,
    chunks: null,
    error: null,
    attempts: 0,
    created_by: { type: 'user' },
  })
  const path = `/v1/apps/${app}/files/${file?.id}`
  t.same((await request('GET', path)).body, file)
  t.same((await request('GET', `/v1/apps/${app}/files`)).body['data'], [file])

  const { key } = await mintKey({ scopes: ['files:read'], apps: [app] })
  const headers = { authorization: `Bearer ${key}` }
  const downloaded = await fetch(`${baseUrl}${path}/content`, { headers })
  t.equal(await downloaded.text(), content)
  t.match(Object.fromEntries(downloaded.headers), {
    'content-type': 'application/octet-stream',
    'content-length': String(content.length),
    'content-disposition':
      'attachment; filename="_ ffnungszeiten.md"; filename*=UTF-8\'\'%C3%B6%20ffnungszeiten.md',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'no-store',
  })
})

await t.test('the same bytes are one file, in one app alone', async (t) => {
  const { upload, newApp, request, app } = await createKnowledge(t)
  const first = await upload([['a.md', 'the same']])
  const again = await upload([
    ['b.md', 'the same'],
    ['c.md', 'another'],
    ['d.md', 'another'],
  ])
  const [same, other, others] = again.body.data
  t.same(same, first.body.data[0])
  t.same(others, other)
  t.equal(other?.name, 'c.md')
  const list = await request<{ data: KnowledgeFile[] }>('GET', `/v1/apps/${app}/files`)
  t.equal(list.body.data.length, 2)
  const elsewhere = await upload([['a.md', 'the same']], { app: await newApp() })
  t.not(elsewhere.body.data[0]?.id, same?.id)
})

await t.test('of several files each is taken or refused by itself', async (t) => {
  const { upload } = await createKnowledge(t)
  const taken = await upload([
    ['a.md', 'one'],
    ['picture.png', '\x89PNG'],
    ['empty.md', ''],
    ['a\u202egnp.md', 'two'],
    ['large.md', Buffer.alloc(25 * MIB + 1, 'x')],
    ['folder\\b.md', 'three'],
  ])
  t.equal(taken.status, 202)
  t.same(
    taken.body.data.map(({ name }) => name),
    ['a.md', 'b.md'],
  )
  t.match(taken.body.errors, [
    { name: 'picture.png', code: 'unsupported_media_type', message: /Send text or markdown/ },
    { name: 'empty.md', code: 'empty_file' },
    { name: 'a\u202egnp.md', code: 'invalid_file_name' },
    { name: 'large.md', code: 'file_too_large', message: /25 MiB/ },
  ])
})

await t.test('where nothing is taken the error is answered itself', async (t) => {
  const { upload, request, app } = await createKnowledge(t)
  const refusals: readonly (readonly [string, string | Uint8Array, number, string])[] = [
    ['a.exe', 'MZ', 415, 'unsupported_media_type'],
    ['a.md', '', 400, 'empty_file'],
    ['..', 'a', 400, 'invalid_file_name'],
    [`${'x'.repeat(253)}.md`, 'a', 400, 'invalid_file_name'],
    ['a.md', Buffer.alloc(25 * MIB + 1, 'x'), 413, 'file_too_large'],
  ]
  for (const [name, content, status, code] of refusals) {
    t.match(await upload([[name, content]]), { status, body: { error: { code } } }, code)
  }
  const several = await upload([
    ['a.md', ''],
    ['b.exe', 'MZ'],
  ])
  t.match(several, {
    status: 400,
    body: {
      error: {
        code: 'empty_file',
        errors: [
          { location: 'body.file[0]', code: 'empty_file' },
          { location: 'body.file[1]', code: 'unsupported_media_type' },
        ],
      },
    },
  })
  t.same((await request('GET', `/v1/apps/${app}/files`)).body['data'], [])
})

await t.test('what a name promises and the content is not is told apart', async (t) => {
  const { createFileProcessor } = await import('../../plugins/files/extract.ts')
  const { upload } = await createKnowledge(t, { fileProcessor: createFileProcessor() })
  const png = '\x89PNG\r\n'
  const codes: readonly (readonly [string, string, string])[] = [
    ['a.pdf', png, 'wrong_type'],
    ['a.docx', '%PDF-1.7', 'wrong_type'],
    ['a.png', png, 'unsupported_media_type'],
    ['a', png, 'unsupported_media_type'],
  ]
  for (const [name, content, code] of codes) {
    t.match(await upload([[name, Buffer.from(content, 'latin1')]]), {
      status: 415,
      body: { error: { code } },
    })
  }
  t.match((await upload([['page', '<!doctype html><p>Hours']])).body.data, [
    { content_type: 'text/html' },
  ])
})

await t.test('files of a status or type are listed, page by page', async (t) => {
  const { upload, request, app } = await createKnowledge(t)
  await upload(Array.from({ length: 5 }, (_, at) => [`${at}.md`, String(at)] as const))
  await upload([['a.txt', 'text']])
  const list = async (query: string) =>
    (
      await request<{ data: KnowledgeFile[]; next_cursor: string }>(
        'GET',
        `/v1/apps/${app}/files?${query}`,
      )
    ).body
  const names = ({ data }: { data: readonly KnowledgeFile[] }) => data.map(({ name }) => name)
  t.same(names(await list('content_type=text/plain')), ['a.txt'])
  t.same(names(await list('status=processed')), [])
  const first = await list('status=queued&content_type=text/markdown&limit=3')
  t.same(names(first), ['4.md', '3.md', '2.md'])
  const next = await list(
    `status=queued&content_type=text/markdown&limit=3&cursor=${first.next_cursor}`,
  )
  t.same(names(next), ['1.md', '0.md'])
  t.match(await request('GET', `/v1/apps/${app}/files?cursor=${first.next_cursor}`), {
    status: 400,
    body: { error: { code: 'invalid_cursor' } },
  })
})

await t.test('an archived app takes and gives up no files, and shows those it has', async (t) => {
  const { upload, request, app } = await createKnowledge(t)
  const [file] = (await upload([['a.md', 'one']])).body.data
  await request('DELETE', `/v1/apps/${app}`)
  const refused = { status: 409, body: { error: { code: 'app_archived' } } }
  const path = `/v1/apps/${app}/files/${file?.id}`
  t.match(await upload([['b.md', 'two']]), refused)
  t.match(await request('DELETE', path), refused)
  t.match(await request('POST', `${path}/retry`), refused)
  t.match(await request('GET', path), { status: 200 })
  const body = { query: 'one' }
  t.match(await request('POST', `/v1/apps/${app}/files/search`, { body }), { status: 200 })
})

await t.test('files of another account, and beyond the pins of a key, are not found', async (t) => {
  const { upload, request, app, newApp, addAccount, userOf, mintKey } = await createKnowledge(t)
  const [file] = (await upload([['a.md', 'one']])).body.data
  const stranger = userOf(await addAccount())
  const { key } = await mintKey({ scopes: ['files:*'], apps: [await newApp()] })
  const path = `/v1/apps/${app}/files`
  const asks: readonly (readonly [string, string, { body?: AnyBody; form?: FormData }])[] = [
    ['GET', path, {}],
    ['POST', path, { form: formOf([['b.md', 'two']]) }],
    ['POST', `${path}/search`, { body: { query: 'one' } }],
    ['GET', `${path}/${file?.id}`, {}],
    ['GET', `${path}/${file?.id}/content`, {}],
    ['POST', `${path}/${file?.id}/retry`, {}],
    ['DELETE', `${path}/${file?.id}`, {}],
  ]
  for (const as of [stranger, key]) {
    for (const [method, place, asking] of asks) {
      const answer = await request(method, place, { as, ...asking })
      t.match(answer, { status: 404, body: { error: { code: 'app_not_found' } } }, place)
    }
  }
})

await t.test('who may read files may not change them, and the other way round', async (t) => {
  const { request, mintKey, app } = await createKnowledge(t)
  const reader = (await mintKey({ scopes: ['files:read'] })).key
  const writer = (await mintKey({ scopes: ['files:write'] })).key
  const form = formOf([['a.md', 'one']])
  const refused = { status: 403, body: { error: { code: 'insufficient_scope' } } }
  t.match(await request('POST', `/v1/apps/${app}/files`, { as: reader, form }), refused)
  t.match(await request('POST', `/v1/apps/${app}/files`, { as: writer, form }), { status: 202 })
  t.match(await request('GET', `/v1/apps/${app}/files`, { as: writer }), refused)
  const body = { query: 'one' }
  const search = `/v1/apps/${app}/files/search`
  t.match(await request('POST', search, { as: writer, body }), refused)
  t.match(await request('POST', search, { as: reader, body }), { status: 200 })
})

await t.test('where nothing reads files none are taken', async (t) => {
  const { request, platform, app } = await createKnowledge(t)
  Object.assign(platform.plugins, { fileProcessor: undefined satisfies FileProcessor | undefined })
  const form = formOf([['a.md', 'one']])
  t.match(await request<Uploaded>('POST', `/v1/apps/${app}/files`, { form }), {
    status: 501,
    body: { error: { code: 'capability_unavailable' } },
  })
})

await t.test('a name is never a path, and shows itself as it is', (t) => {
  const names: readonly (readonly [string, string | undefined])[] = [
    ['hours.pdf', 'hours.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\notes\\hours.pdf', 'hours.pdf'],
    ['a/b\\c/d.md', 'd.md'],
    [' spaced .md ', 'spaced .md'],
    ['e\u0301.md', '\u00e9.md'],
    ['می\u200cخواهم.md', 'می\u200cخواهم.md'],
    ['', undefined],
    ['a/', undefined],
    ['.', undefined],
    ['..', undefined],
    ['a\0.md', undefined],
    ['a\n.md', undefined],
    ['a\x85.md', undefined],
    ['a\u2028.md', undefined],
    ['a\u202e.md', undefined],
    ['a\u2066.md', undefined],
    ['a\ud800.md', undefined],
    ['ü'.repeat(128), undefined],
    ['ü'.repeat(127), 'ü'.repeat(127)],
  ]
  for (const [at, [given, name]] of names.entries()) t.equal(cleanName(given), name, `name ${at}`)
  t.end()
})
