import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { askSocket } from '../../daemon/cli/ask.ts'
import { encodeParts } from '../../daemon/cli/encode-parts.ts'
import { runCli } from '../../daemon/cli/program.ts'
import { askRemote } from '../../daemon/cli/remote.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import type { CommandRequest } from '../../daemon/cli/request.ts'
import { createClient, routesOf } from '../../daemon/client/index.ts'
import { readConfig } from '../../daemon/config/config.ts'
import { FAMILIES, errorRows } from '../../daemon/families/index.ts'
import { getFileContent } from '../../daemon/families/files/operations/get-content.ts'
import { uploadFiles } from '../../daemon/families/files/operations/upload.ts'
import { controlSocketIn } from '../../daemon/listener/control-socket.ts'
import { listenLocally } from '../../daemon/listener/listen.ts'
import { apiPages } from '../../daemon/openapi/pages.ts'
import { createBoxes } from '../support/boxes.ts'
import { createKnowledge } from '../support/knowledge.ts'
import { createWorld } from '../support/world.ts'

await t.test('an operation with parts is a method of the client', async (t) => {
  const { family, fillBox } = createBoxes()
  const { baseUrl, mintKey } = await createWorld(t, { families: [family] })
  const { key } = await mintKey({ scopes: ['boxes:write'] })
  const { boxes } = createClient({ baseUrl, key, routes: routesOf([fillBox]) })
  const file = [new File(['one'], 'a.txt'), new Blob(['two'])]
  t.match(await boxes.fill({ box_id: 'b1', file, note: 'on top' }), {
    files: [
      { name: 'a.txt', size: 3 },
      { name: 'blob', size: 3 },
    ],
    notes: ['on top'],
  })
  await t.rejects(boxes.fill({ box_id: 'b1', file: [] }), { code: 'invalid_request' })
  // @ts-expect-error: a file is needed
  await t.rejects(boxes.fill({ box_id: 'b1' }), { code: 'invalid_request' })
})

await t.test('an operation that answers a file gives a blob', async (t) => {
  const { baseUrl, mintKey, app } = await createKnowledge(t)
  const { key } = await mintKey({ scopes: ['files:*'] })
  const { files } = createClient({ baseUrl, key, routes: routesOf([uploadFiles, getFileContent]) })
  const { data } = await files.upload({ app_id: app, file: [new File(['# Hours'], 'a.md')] })
  const place = { app_id: app, file_id: data[0]?.id ?? '' }
  const blob = await files.content(place)
  t.equal(await blob.text(), '# Hours')
  await t.rejects(files.content({ ...place, file_id: 'none' }), { code: 'file_not_found' })
})

await t.test('an operation with parts is a command that sends files', async (t) => {
  const { baseUrl, mintKey } = await createWorld(t, { families: [createBoxes().family] })
  const folder = t.testdir({ 'a".txt': 'one', 'b.txt': 'two' })
  const asked: CommandRequest[] = []
  let out = ''
  const terminal = {
    env: {},
    out: (text: string) => void (out += text),
    err: (text: string) => void (out += text),
    readInput: () => Promise.resolve(''),
  }
  const { family } = createBoxes()
  const files = ['a".txt', 'b.txt'].map((name) => join(folder, name))
  const run = (...line: string[]) =>
    runCli(['box', 'fill', ...line], terminal, commandsOf([family]), (request) => {
      asked.push(request)
      return Promise.resolve({ status: 200, text: JSON.stringify({ data: [{ id: 'b1' }] }) })
    })
  t.equal(await run('b1', ...files, '--note', 'on top'), 0)
  const [first, second] = files
  const parts = [
    { name: 'file', path: first },
    { name: 'file', path: second },
    { name: 'note', text: 'on top' },
  ]
  t.match(asked, [{ method: 'POST', path: '/v1/boxes/b1/fill', body: undefined, parts }])
  t.equal(await run('b1'), 2, 'a path is needed')
  t.equal(await run('--help'), 0)
  t.match(out, 'box fill b1 PATH')

  const { key } = await mintKey({ scopes: ['boxes:write'] })
  const { type, bytes } = encodeParts(asked[0]?.parts ?? [])
  const sent = await fetch(`${baseUrl}/v1/boxes/b1/fill`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body: await buffer(Readable.from(bytes)),
  })
  t.match(await sent.json(), {
    files: [
      { name: 'a%22.txt', size: 3 },
      { name: 'b.txt', size: 3 },
    ],
    notes: ['on top'],
  })
})

await t.test('what a command sends goes over the control socket piece by piece', async (t) => {
  const folder = t.testdir({})
  mkdirSync(join(folder, 'data'))
  const config = readConfig({ KEYHOOK_DATA_DIR: join(folder, 'data') })
  const server = await listenLocally(controlSocketIn(config.dataDir), (request, response) => {
    void buffer(request).then(
      (body) => response.end(JSON.stringify({ size: body.length })),
      () => response.destroy(),
    )
  })
  t.teardown(() => server.close())
  const path = join(folder, 'large')
  writeFileSync(path, Buffer.alloc(3_000_000))
  const asking = { method: 'POST', path: '/', body: undefined }
  const answer = await askSocket(config, { ...asking, parts: [{ name: 'file', path }] })
  t.ok((JSON.parse(answer?.text ?? '{}') as { size: number }).size > 3_000_000)
  const missing = { ...asking, parts: [{ name: 'file', path: join(folder, 'missing') }] }
  await t.rejects(askSocket(config, missing), { message: /missing cannot be read/ })
  const elsewhere = createServer((request) => void request.resume()).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  t.teardown(() => elsewhere.close())
  const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  await t.rejects(askRemote({ url, key: 'service_dk_x' }, missing, undefined), {
    message: new RegExp(`^${join(folder, 'missing')} cannot be read`),
  })
})

await t.test('parts, and files that are answered, are described', (t) => {
  const { family } = createBoxes()
  const families = [...FAMILIES, family]
  const pages = apiPages(families, errorRows(families), 'http://127.0.0.1:8420')
  const document: unknown = JSON.parse(pages['/v1/openapi.json']?.body ?? '')
  t.match(document, {
    paths: {
      '/v1/boxes/{box_id}/fill': {
        post: {
          requestBody: {
            required: true,
            content: {
              'multipart/form-data': { schema: { $ref: '#/components/schemas/BoxesFillForm' } },
            },
          },
          responses: {
            400: { description: /invalid_multipart/ },
            413: { description: /payload_too_large/ },
            415: { description: /unsupported_media_type/ },
          },
        },
      },
      '/v1/apps/{app_id}/files/{file_id}/content': {
        get: { responses: { 200: { content: { 'application/octet-stream': {} } } } },
      },
    },
    components: {
      schemas: {
        BoxesFillForm: {
          properties: {
            file: {
              type: 'array',
              items: { type: 'string', format: 'binary' },
              minItems: 1,
              maxItems: 3,
            },
            note: { type: 'string', description: 'To lay on top.' },
          },
          required: ['file'],
          additionalProperties: false,
        },
      },
    },
  })
  const page = pages['/docs']?.body ?? ''
  const [, article = ''] = /<article id="boxes\.fill">([\s\S]*?)<\/article>/.exec(page) ?? []
  for (const part of [
    'Parts of a multipart body',
    'list of file',
    '1 to 3 entries',
    'To lay on top.',
    '-F &quot;file=@$FILE&quot;',
    '-F &quot;note=$NOTE&quot;',
  ]) {
    t.ok(article.includes(part), part)
  }
  t.end()
})
