import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { encodeParts } from '../../daemon/cli/encode-parts.ts'
import { runCli } from '../../daemon/cli/program.ts'
import { commandsOf } from '../../daemon/operations/commands.ts'
import type { CommandRequest } from '../../daemon/cli/request.ts'
import { createClient, routesOf } from '../../daemon/client/index.ts'
import { appsFamily } from '../../daemon/families/apps/family.ts'
import { createApp } from '../../daemon/families/apps/operations/create.ts'
import { FAMILIES, errorRows } from '../../daemon/families/index.ts'
import { apiPages } from '../../daemon/openapi/pages.ts'
import { formWorld, treeOf } from '../support/form-world.ts'

await t.test('the client sends blobs as a form, and all else as JSON', async (t) => {
  const world = await formWorld(t)
  const { baseUrl, key } = world
  const { apps } = createClient({ baseUrl, key, routes: routesOf([createApp]) })
  const made = await apps.create({
    prompt: 'A bakery',
    metadata: { stage: 'trial' },
    files: [new File(['<h1>'], 'index.html'), new File(['p'], 'css/a.css')],
  })
  t.match(made, { metadata: { stage: 'trial' }, source: { kind: 'prompt_files' } })
  t.same(await treeOf(world, made.id), { 'index.html': 4, 'css/a.css': 1 })
  const inJson = await apps.create({
    prompt: 'A bakery',
    files: [{ path: 'index.html', content: '<h1>' }],
  })
  t.same(await treeOf(world, inJson.id), { 'index.html': 4 })
  // @ts-expect-error: a blob is no name
  await t.rejects(apps.create({ prompt: 'A bakery', name: new Blob(['a']) }))
})

await t.test('the command sends files at the paths that they have in their folder', async (t) => {
  const folder = t.testdir({ 'index.html': '<h1>' })
  mkdirSync(join(folder, 'css'))
  writeFileSync(join(folder, 'css', 'a.css'), 'p')
  const asked: CommandRequest[] = []
  const terminal = {
    env: {},
    out: () => undefined,
    err: t.fail,
    readInput: () => Promise.resolve(''),
  }
  const run = (...line: string[]) =>
    runCli(['app', 'create', ...line], terminal, commandsOf([appsFamily]), (request) => {
      asked.push(request)
      return Promise.resolve({ status: 202, text: '{"id":"a1"}' })
    })
  const before = process.cwd()
  process.chdir(folder)
  t.teardown(() => process.chdir(before))
  const outside = join(before, 'package.json')
  const files = ['./index.html', join(folder, 'css', 'a.css'), outside]
  const line = files.flatMap((path) => ['--files', path])
  t.equal(await run('--prompt', 'A bakery', '--metadata', '{"stage":"trial"}', ...line), 0)
  t.match(asked[0], {
    path: '/v1/apps',
    body: undefined,
    parts: [
      { name: 'prompt', text: 'A bakery' },
      { name: 'metadata', text: '{"stage":"trial"}' },
      { path: './index.html', filename: 'index.html' },
      { filename: 'css/a.css' },
      { filename: 'package.json' },
    ],
  })
  const { type, bytes } = encodeParts(asked[0]?.parts ?? [])
  const sent = (await buffer(Readable.from(bytes))).toString()
  t.match(type, /^multipart\/form-data/)
  t.match(sent, 'name="files"; filename="css/a.css"')
  t.equal(await run('--template-id', 'blank'), 0)
  t.strictSame(asked[1], { method: 'POST', path: '/v1/apps', body: '{"template_id":"blank"}' })
})

await t.test('both ways are described', (t) => {
  const pages = apiPages(FAMILIES, errorRows(FAMILIES), 'http://127.0.0.1:8420')
  const document: unknown = JSON.parse(pages['/v1/openapi.json']?.body ?? '')
  t.match(document, {
    paths: {
      '/v1/apps': {
        post: {
          requestBody: {
            required: true,
            content: {
              'application/json': { example: { template_id: 'landing' } },
              'multipart/form-data': { schema: { $ref: '#/components/schemas/AppsCreateForm' } },
            },
          },
          responses: { 400: { description: /invalid_multipart/ }, 429: {} },
        },
      },
    },
    components: {
      schemas: {
        AppsCreateForm: {
          properties: {
            prompt: { type: 'string' },
            files: { type: 'array', maxItems: 500, items: { format: 'binary' } },
          },
          required: ['prompt'],
        },
      },
    },
  })
  const page = pages['/docs']?.body ?? ''
  const [, article = ''] = /<article id="apps\.create">([\s\S]*?)<\/article>/.exec(page) ?? []
  t.match(article, /Body[\s\S]*Or: Parts of a multipart body/)
  t.match(article, '-d &#39;{&quot;template_id&quot;')
  t.notMatch(article, '-F &quot;')
  t.end()
})
