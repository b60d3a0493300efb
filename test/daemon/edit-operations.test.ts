import fc from 'fast-check'
import t from 'tap'
import type { Tree, TreeFile } from '../../daemon/trees/tree.ts'
import { digestOf, judgeTree } from '../../daemon/trees/tree.ts'
import type { AppliedEdit, GivenOperation } from '../../daemon/trees/apply.ts'
import { applyOperations } from '../../daemon/trees/apply.ts'
import { runAtOnce } from '../support/steps.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A tree of these files, and where their bytes are read. */
function baseOf(contents: Readonly<Record<string, string | Uint8Array>>) {
  const kept = new Map<string, Uint8Array>()
  const files: [string, TreeFile][] = []
  for (const [path, content] of Object.entries(contents)) {
    const bytes = typeof content === 'string' ? encode(content) : content
    const sha256 = digestOf(bytes)
    kept.set(sha256, bytes)
    files.push([path, { path, sha256, size: bytes.length }])
  }
  const tree: Tree = { files: new Map(files), config: new Map([['kept', 'yes']]) }
  const read = async (sha256: string): Promise<Uint8Array> => {
    const bytes = kept.get(sha256)
    if (bytes === undefined) throw new Error(`${sha256} is not of the base`)
    return bytes
  }
  return { tree, read, kept }
}

const SITE = {
  'index.html': 'one two two',
  'a/style.css': 'body {}',
  'pixel.png': Uint8Array.of(255),
}

async function apply(operations: readonly GivenOperation[], contents = SITE) {
  const base = baseOf(contents)
  const done = await applyOperations(base.tree, operations, base.read)
  return { base, done }
}

function isApplied(done: Awaited<ReturnType<typeof applyOperations>>): done is AppliedEdit {
  return 'tree' in done
}

/** What the files of an applied edit hold. */
async function contentsOf(operations: readonly GivenOperation[]): Promise<Record<string, string>> {
  const { base, done } = await apply(operations)
  if (!isApplied(done)) throw new Error(JSON.stringify(done))
  const bytes = new Map(base.kept)
  for (const one of done.fresh) bytes.set(digestOf(one), one)
  return Object.fromEntries(
    [...done.tree.files.values()].map(({ path, sha256 }) => {
      return [path, Buffer.from(bytes.get(sha256) ?? []).toString()]
    }),
  )
}

void t.test('operations apply in their order, each to what those before it left', async (t) => {
  const made = await contentsOf([
    { op: 'write', path: 'new.js', content: 'let a = 1' },
    { op: 'patch', path: 'new.js', search: '1', replace: '$& $1 2' },
    { op: 'rename', from: 'new.js', to: 'lib/new.js' },
    { op: 'patch', path: 'index.html', search: 'one ', replace: '' },
    { op: 'delete', path: 'a/style.css' },
    { op: 'write', path: 'a', content: 'a folder is free once its last file is gone' },
  ])
  t.match(made, { 'lib/new.js': 'let a = $& $1 2', 'index.html': 'two two', a: /free/ })
  t.same(Object.keys(made).sort(), ['a', 'index.html', 'lib/new.js', 'pixel.png'])
})

void t.test('what changed is told, and only new bytes are to be kept', async (t) => {
  const { base, done } = await apply([
    { op: 'write', path: 'index.html', content: 'one two two' },
    { op: 'write', path: 'gone.txt', content: 'for a while' },
    { op: 'delete', path: 'gone.txt' },
    { op: 'write', path: 'b.bin', bytes: Uint8Array.of(0, 255) },
    { op: 'rename', from: 'pixel.png', to: 'dot.png' },
    { op: 'set_config', key: 'title', value: 'Shop' },
    { op: 'set_config', key: 'kept', value: null },
  ])
  t.ok(isApplied(done))
  if (!isApplied(done)) return
  t.same(done.changed, [
    { path: 'b.bin', change: 'added' },
    { path: 'dot.png', change: 'added' },
    { path: 'pixel.png', change: 'removed' },
  ])
  const news = done.fresh.filter((one) => !base.kept.has(digestOf(one)))
  t.same(news, [Uint8Array.of(0, 255)])
  t.same([...done.tree.config], [['title', 'Shop']])
})

void t.test('what cannot be applied is named, and nothing is', async (t) => {
  const table: readonly (readonly [GivenOperation, string])[] = [
    [{ op: 'patch', path: 'index.html', search: 'three', replace: '' }, 'no_match'],
    [{ op: 'patch', path: 'index.html', search: '', replace: 'a' }, 'no_match'],
    [{ op: 'patch', path: 'index.html', search: 'two', replace: '' }, 'many_matches'],
    [{ op: 'patch', path: 'nowhere', search: 'a', replace: '' }, 'path_not_found'],
    [{ op: 'patch', path: 'pixel.png', search: 'a', replace: '' }, 'not_text'],
    [{ op: 'delete', path: 'nowhere' }, 'path_not_found'],
    [{ op: 'rename', from: 'nowhere', to: 'a.txt' }, 'path_not_found'],
    [{ op: 'rename', from: 'index.html', to: 'pixel.png' }, 'path_taken'],
    [{ op: 'rename', from: 'index.html', to: '../out' }, 'traversal'],
    [{ op: 'write', path: '/etc/passwd', content: '' }, 'absolute'],
    [{ op: 'write', path: 'a\\b', content: '' }, 'backslash'],
    [{ op: 'write', path: '.git/config', content: '' }, 'hidden'],
    [{ op: 'write', path: 'INDEX.html', content: '' }, 'path_collision'],
    [{ op: 'write', path: 'a', content: '' }, 'path_is_folder'],
    [{ op: 'write', path: 'index.html/b', content: '' }, 'path_is_folder'],
    [{ op: 'write', path: 'big', bytes: new Uint8Array(10 * 1_048_576 + 1) }, 'too_large'],
    [{ op: 'set_config', key: 'a b', value: '' }, 'config_key'],
    [{ op: 'set_config', key: 'a', value: 'x'.repeat(4001) }, 'config_value'],
  ]
  for (const [operation, code] of table) {
    const { done } = await apply([{ op: 'write', path: 'ok', content: '' }, operation])
    const path = 'path' in operation ? operation.path : ''
    t.match(done, [{ code, message: /\.$/ }], `${operation.op} ${path.slice(0, 20)}`)
  }
})

void t.test('every operation that fails is named, by its place', async (t) => {
  const { done } = await apply([
    { op: 'delete', path: 'x' },
    { op: 'write', path: 'ok', content: '' },
    { op: 'rename', from: 'y', to: 'z' },
    { op: 'patch', path: 'z', search: 'a', replace: 'b' },
  ])
  t.match(done, [
    { index: 0, path: 'x', code: 'path_not_found' },
    { index: 2, path: 'y', code: 'path_not_found' },
    { index: 3, path: 'z', code: 'path_not_found' },
  ])
})

void t.test('whatever is asked for, a tree comes out whole or not at all', async (t) => {
  const path = fc.constantFrom('a', 'A', 'a/b', 'b', 'b/c', 'index.html', '..', 'con')
  const text = fc.constantFrom('', 'one', 'two', 'x')
  const operation: fc.Arbitrary<GivenOperation> = fc.oneof(
    fc.record({ op: fc.constant('write' as const), path, content: text }),
    fc.record({ op: fc.constant('patch' as const), path, search: text, replace: text }),
    fc.record({ op: fc.constant('rename' as const), from: path, to: path }),
    fc.record({ op: fc.constant('delete' as const), path }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 8 }), async (operations) => {
      const { base, done } = await apply(operations)
      if (!isApplied(done)) return done.length > 0
      const held = new Set([...base.kept.keys(), ...done.fresh.map(digestOf)])
      const named = [...done.tree.files].every(
        ([key, file]) => key === file.path && held.has(file.sha256),
      )
      return named && runAtOnce(judgeTree(done.tree)) === undefined
    }),
    { numRuns: 500 },
  )
  t.pass('of five hundred')
})
