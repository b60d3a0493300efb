import fc from 'fast-check'
import t from 'tap'
import type { Tree } from '../../daemon/trees/tree.ts'
import { printTree } from '../../daemon/trees/tree.ts'
import { repeatChanges } from '../../daemon/trees/repeat.ts'
import { createApp, createHeldEditor, editWorld, readFile, type Edit } from '../support/edits.ts'
import type { AnyBody, World } from '../support/world.ts'

function edit(world: World, app: string, body: AnyBody) {
  return world.request<Edit>('POST', `/v1/apps/${app}/edits`, { body })
}

const write = (path: string, content: string) => ({ op: 'write', path, content })

void t.test('an edit is taken back by another, and what came after it stays', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const before = await readFile(world, id, 'style.css')
  const operations = [
    write('style.css', 'body {}'),
    write('new.html', 'new'),
    { op: 'set_config', key: 'title', value: 'A' },
  ]
  const first = (await edit(world, id, { operations, base_revision: 1 })).body
  await edit(world, id, { operations: [write('other.html', 'stays')], base_revision: 2 })
  const path = `/v1/apps/${id}/edits/${first.id}/revert`
  t.match(await world.request('POST', path, { body: { message: 'Back' } }), {
    status: 201,
    body: {
      kind: 'structured',
      status: 'completed',
      reverts: first.id,
      message: 'Back',
      base_revision: 3,
      result_revision: 4,
      changed_files: [
        { path: 'new.html', change: 'removed' },
        { path: 'style.css', change: 'changed' },
      ],
    },
  })
  t.equal(await readFile(world, id, 'style.css'), before)
  t.equal(await readFile(world, id, 'other.html'), 'stays')
  t.match(await world.request('GET', `/v1/apps/${id}/tree`), { body: { config: {} } })

  const again = await world.request('POST', path)
  const details = { paths: ['new.html', 'style.css'], config: ['title'] }
  t.match(again, { status: 409, body: { error: { code: 'revert_conflict', details } } })
})

void t.test('a revert that cannot be is refused before it waits', async (t) => {
  const world = await editWorld(t, createHeldEditor().editor)
  const { id } = await createApp(world)
  const waiting: string[] = []
  Object.assign(world.platform.queues, {
    applying: (async ({ holder }) => {
      waiting.push(holder)
      throw new Error('it waits')
    }) satisfies typeof world.platform.queues.applying,
  })
  const unfinished = (await edit(world, id, { prompt: 'Later' })).body
  for (const [app, of, status, code] of [
    ['nowhere', unfinished.id, 404, 'app_not_found'],
    [id, 'unknown', 404, 'edit_not_found'],
    [id, unfinished.id, 409, 'edit_not_completed'],
  ] as const) {
    const answer = await world.request('POST', `/v1/apps/${app}/edits/${of}/revert`)
    t.match(answer, { status, body: { error: { code } } })
  }
  t.same(waiting, [])
})

void t.test('repeating changes ends when its signal aborts', async (t) => {
  const names = Array.from({ length: 1000 }, (_, index) => `${index}.txt`)
  const tree: Tree = {
    files: new Map(names.map((path) => [path, { path, sha256: '1', size: 1 }])),
    config: new Map(),
  }
  const none: Tree = { files: new Map(), config: new Map() }
  const signal = AbortSignal.abort(new Error('left'))
  await t.rejects(repeatChanges({ from: none, to: tree }, none, signal), { message: 'left' })
})

const paths = fc.constantFrom('a', 'b', 'c/d', 'c/e')
const digests = fc.constantFrom('1', '2', '3')
const trees = fc
  .record({ files: fc.dictionary(paths, digests), config: fc.dictionary(paths, digests) })
  .map(({ files, config }): Tree => ({
    files: new Map(
      Object.entries(files).map(([path, sha256]) => [path, { path, sha256, size: 1 }]),
    ),
    config: new Map(Object.entries(config)),
  }))

void t.test(
  'changes that are repeated make the same of the same, and overwrite nothing',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(trees, trees, async (from, to) => {
        const repeated = await repeatChanges({ from, to }, from)
        return 'tree' in repeated && printTree(repeated.tree) === printTree(to)
      }),
    )
    await fc.assert(
      fc.asyncProperty(trees, trees, trees, async (from, to, onto) => {
        const repeated = await repeatChanges({ from, to }, onto)
        const names = ['a', 'b', 'c/d', 'c/e']
        const at = (tree: Tree, name: string) => tree.files.get(name)?.sha256
        const changed = names.filter((name) => at(from, name) !== at(to, name))
        if (!('tree' in repeated)) {
          return repeated.paths.every((path) => at(onto, path) !== at(from, path))
        }
        const { tree } = repeated
        return names.every((name) =>
          changed.includes(name)
            ? at(onto, name) === at(from, name) && at(tree, name) === at(to, name)
            : at(tree, name) === at(onto, name),
        )
      }),
    )
    t.pass('for every tree that was tried')
  },
)

void t.test('a revision comes back as a new one, with files and configuration', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const before = await world.request<{ files: object; config: object }>(
    'GET',
    `/v1/apps/${id}/tree?revision=1`,
  )
  const operations = [
    write('style.css', 'body {}'),
    write('new.html', 'new'),
    { op: 'set_config', key: 'title', value: 'A' },
  ]
  await edit(world, id, { operations, base_revision: 1 })
  await edit(world, id, { operations: [write('other.html', 'goes')], base_revision: 2 })
  const path = `/v1/apps/${id}/restore-revision`
  t.match(await world.request('POST', path, { body: { revision: 1 } }), {
    status: 201,
    body: {
      kind: 'structured',
      status: 'completed',
      message: 'Revision 1 restored',
      base_revision: 3,
      result_revision: 4,
      changed_files: [
        { path: 'new.html', change: 'removed' },
        { path: 'other.html', change: 'removed' },
        { path: 'style.css', change: 'changed' },
      ],
    },
  })
  const { files, config } = before.body
  t.match(await world.request('GET', `/v1/apps/${id}/tree`), { body: { files, config } })
  t.match(await world.request('GET', `/v1/apps/${id}/diff?from=1`), {
    body: { from_revision: 1, to_revision: 4, files: [], config: [], diff: '' },
  })
  t.match(await world.request('GET', `/v1/apps/${id}/diff?from=2&to=3`), {
    body: { files: [{ path: 'other.html', change: 'added', added: 1 }], diff: /\+goes/ },
  })
  t.match(await world.request('GET', `/v1/apps/${id}/diff?from=3&to=2&path=other.html`), {
    body: { files: [{ path: 'other.html', change: 'removed' }], diff: /-goes/ },
  })
  t.match(await world.request('GET', `/v1/apps/${id}/diff?from=1&to=4&path=style.css`), {
    status: 404,
    body: { error: { code: 'path_not_found' } },
  })
  for (const revision of [9, 0]) {
    const refused = await world.request('POST', path, { body: { revision } })
    t.equal(refused.status, revision === 9 ? 404 : 400)
  }
})
