import { applyPatch } from 'diff'
import fc from 'fast-check'
import t from 'tap'
import { diffTexts } from '../../daemon/trees/diff.ts'
import { at, createApp, editWorld, readFile, type Edit } from '../support/edits.ts'
import type { Answer, AnyBody, World } from '../support/world.ts'

interface Diff extends AnyBody {
  readonly diff: string
  readonly files: readonly { readonly path: string; readonly omitted: string | null }[]
}

const write = (path: string, content: string) => ({ op: 'write', path, content })

async function edit(world: World, app: string, base: number, operations: unknown): Promise<Edit> {
  const body = { operations, base_revision: base } as AnyBody
  const made = await world.request<Edit>('POST', `/v1/apps/${app}/edits`, { body })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return made.body
}

const diffOf = (world: World, one: Edit, rest = ''): Promise<Answer<Diff>> =>
  world.request<Diff>('GET', `${at(one)}/diff${rest}`)

await t.test('a diff has what the edit changed', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const first = await edit(world, id, 1, [
    write('hours.txt', 'Monday\nTuesday\nSunday'),
    write('note.txt', 'Hello\n'),
    { op: 'write', path: 'pixel.png', content_base64: '/w==' },
    { op: 'set_config', key: 'title', value: 'Shop' },
  ])
  t.match(await diffOf(world, first), {
    status: 200,
    body: {
      app_id: id,
      edit_id: first.id,
      base_revision: 1,
      result_revision: 2,
      files: [
        { path: 'hours.txt', change: 'added', added: 3, removed: 0, omitted: null },
        { path: 'note.txt', change: 'added', added: 1, removed: 0, omitted: null },
        { path: 'pixel.png', change: 'added', added: null, removed: null, omitted: 'binary' },
      ],
      config: [{ key: 'title', before: null, after: 'Shop' }],
      diff: [
        '--- /dev/null\n+++ b/hours.txt\n@@ -0,0 +1,3 @@\n+Monday\n+Tuesday\n+Sunday\n\\ No newline at end of file\n',
        '--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1,1 @@\n+Hello\n',
      ].join(''),
    },
  })
  const second = await edit(world, id, 2, [
    write('hours.txt', 'Monday\nWednesday\nSunday'),
    { op: 'delete', path: 'note.txt' },
  ])
  t.equal(
    (await diffOf(world, second)).body.diff,
    [
      '--- a/hours.txt\n+++ b/hours.txt\n@@ -1,3 +1,3 @@\n Monday\n-Tuesday\n+Wednesday\n Sunday\n\\ No newline at end of file\n',
      '--- a/note.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-Hello\n',
    ].join(''),
  )
  const one = await diffOf(world, second, '?path=note.txt')
  t.same(
    one.body.files.map(({ path }) => path),
    ['note.txt'],
  )
  t.match(await diffOf(world, second, '?path=index.html'), {
    status: 404,
    body: { error: { code: 'path_not_found' } },
  })
})

await t.test('after 256 KiB of diffs the next file is shown by its path', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const text = 'a line of text that is as good as any\n'.repeat(6_000)
  const made = await edit(world, id, 1, [
    ...['a.txt', 'b.txt', 'c.txt'].map((path) => write(path, text)),
    write('large.txt', 'x'.repeat(262_145)),
  ])
  const { body } = await diffOf(world, made)
  t.same(
    body.files.map(({ path, omitted }) => [path, omitted]),
    [
      ['a.txt', null],
      ['b.txt', null],
      ['c.txt', 'too_many'],
      ['large.txt', 'too_many'],
    ],
  )
  t.ok(body.diff.length < 3 * 262_144)
  const third = await diffOf(world, made, '?path=c.txt')
  t.equal(third.body.diff.split('\n').filter((line) => line.startsWith('+a ')).length, 6_000)
  t.match((await diffOf(world, made, '?path=large.txt')).body.files, [{ omitted: 'too_large' }])
})

await t.test('a key needs apps:read, and sees its own apps alone', async (t) => {
  const world = await editWorld(t)
  const { id } = await createApp(world)
  const made = await edit(world, id, 1, [write('a.txt', 'a')])
  const ask = async (scopes: readonly string[], apps?: readonly string[]) => {
    const { key } = await world.mintKey({ scopes, ...(apps === undefined ? {} : { apps }) })
    return world.request('GET', `${at(made)}/diff`, { as: key })
  }
  t.match(await ask(['edits:*']), { status: 403, body: { error: { code: 'insufficient_scope' } } })
  t.match(await ask(['apps:read'], ['other']), {
    status: 404,
    body: { error: { code: 'app_not_found' } },
  })
  t.equal((await ask(['apps:read'], [id])).status, 200)
  t.equal(await readFile(world, id, 'a.txt'), 'a')
})

const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'c\r\n', '\n', ' \n', '-a\n', '\\ no\n'), { maxLength: 60 })
  .chain((lines) => fc.constantFrom('', 'end', '\r').map((end) => lines.join('') + end))

await t.test('a diff applied to the text before gives the text after', (t) => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const { text: patch } = diffTexts('a.txt', before, after)
      return (
        before === after || applyPatch(before, patch, { autoConvertLineEndings: false }) === after
      )
    }),
    { numRuns: 500 },
  )
  const many = Array.from({ length: 3_000 }, (_, at) => `${at}\n`)
  const other = many.map((line) => `x${line}`)
  for (const [before, after] of [
    [many, other],
    [[...many, ...many, ...many], other],
    [
      ['same\n', ...many],
      ['same\n', ...other, 'end'],
    ],
  ] as const) {
    const patch = diffTexts('a.txt', before.join(''), after.join(''))
    t.equal(applyPatch(before.join(''), patch.text), after.join(''), 'replaced whole')
    t.equal(patch.removed, before.length - (before[0] === 'same\n' ? 1 : 0))
  }
  t.end()
})
