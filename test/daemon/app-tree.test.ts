import fc from 'fast-check'
import t from 'tap'
import { foldPath, foldersOf, judgePath } from '../../daemon/trees/path.ts'
import type { Tree } from '../../daemon/trees/tree.ts'
import { judgeTree, printTree, readTree } from '../../daemon/trees/tree.ts'
import { runAtOnce } from '../support/steps.ts'

const treeOf = (...paths: readonly string[]): Tree => ({
  files: new Map(paths.map((path) => [path, { path, sha256: 'ab'.repeat(32), size: 1 }])),
  config: new Map(),
})

/** By code points: what a report cannot print, it can name. */
function spell(path: string): string {
  return Array.from(path, (one) => one.codePointAt(0)?.toString(16)).join(' ')
}

void t.test('what names a file of an app is taken as it is', (t) => {
  const paths = [
    'index.html',
    'a/b/c.js',
    'images/Größe 1.png',
    'a-b_c~d(1).txt',
    'noextension',
    'console.js',
    'com10',
    '日本/語.html',
    'x'.repeat(100),
  ]
  for (const path of paths) t.equal(judgePath(path), undefined, path)
  t.end()
})

void t.test('what names none is refused, and says why', (t) => {
  const table: readonly (readonly [string, string])[] = [
    ['', 'empty'],
    ['/index.html', 'absolute'],
    ['//host/share', 'absolute'],
    ['C:/windows', 'absolute'],
    ['c:a', 'absolute'],
    ['..', 'traversal'],
    ['../a', 'traversal'],
    ['a/../../b', 'traversal'],
    ['./a', 'traversal'],
    ['a//b', 'traversal'],
    ['a/', 'traversal'],
    ['a\\..\\b', 'backslash'],
    ['a\0.html', 'control_character'],
    ['a\n', 'control_character'],
    ['a\u007f', 'control_character'],
    ['a\u202egnp.exe', 'control_character'],
    ['a\u2066b', 'control_character'],
    ['a\u200bb', 'control_character'],
    ['\ufeffa', 'control_character'],
    ['a\ud800', 'control_character'],
    ['a\u2028b', 'control_character'],
    ['e\u0301.html', 'not_normalized'],
    ['.env', 'hidden'],
    ['a/.git/config', 'hidden'],
    ['...', 'hidden'],
    ['con', 'reserved'],
    ['a/NUL.txt', 'reserved'],
    ['com1.tar.gz', 'reserved'],
    ['a.', 'reserved'],
    ['a /b', 'reserved'],
    [' a', 'reserved'],
    ['ab:c', 'reserved'],
    ['what?', 'reserved'],
    ['a|b', 'reserved'],
    ['x'.repeat(101), 'too_long'],
    [Array(5).fill('y'.repeat(50)).join('/'), 'too_long'],
    [Array(13).fill('a').join('/'), 'too_deep'],
  ]
  for (const [path, fault] of table) t.equal(judgePath(path), fault, spell(path))
  t.end()
})

void t.test('no text that is taken leads anywhere but down', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (path) => {
      if (judgePath(path) !== undefined) return
      const { pathname } = new URL(encodeURI(path).replaceAll('#', '%23'), 'file:///srv/app/')
      if (!pathname.startsWith('/srv/app/')) t.fail(encodeURI(path))
    }),
  )
  t.pass('of a hundred texts')
  t.end()
})

/** What is wrong with a tree, of which all is judged at once. */
const judge = (tree: Tree) => runAtOnce(judgeTree(tree))

void t.test('paths that some system could not keep apart are refused together', (t) => {
  t.equal(judge(treeOf('a.html', 'b/a.html', 'b/c/a.html')), undefined)
  const table: readonly (readonly [readonly string[], string])[] = [
    [['index.html', 'INDEX.html'], 'path_collision'],
    [['a/b.html', 'A/c.html'], 'path_collision'],
    [['straße.html', 'STRASSE.html'], 'path_collision'],
    [['ﬁ.html', 'fi.html'], 'path_collision'],
    [['K.html', 'k.html'], 'path_collision'],
    [['a', 'a/b'], 'path_is_folder'],
    [['a/b/c', 'a/b'], 'path_is_folder'],
    [['a/b', 'A'], 'path_collision'],
  ]
  for (const [paths, fault] of table) {
    t.equal(judge(treeOf(...paths))?.fault, fault, paths.join(' '))
    t.equal(judge(treeOf(...paths.toReversed()))?.fault, fault, 'in any order')
  }
  t.equal(foldPath('Straße'), foldPath('STRASSE'))
  t.same(foldersOf('a/b/c'), ['a', 'a/b'])
  t.end()
})

void t.test('a tree of too many or too large files is refused', (t) => {
  const many = Array.from({ length: 10_001 }, (_, index) => `f${index}`)
  t.equal(judge(treeOf(...many))?.fault, 'too_many_files')
  const large: Tree = {
    files: new Map([['a', { path: 'a', sha256: 'ab'.repeat(32), size: 201 * 1_048_576 }]]),
    config: new Map(),
  }
  t.equal(judge(large)?.fault, 'too_large')
  t.end()
})

void t.test('equal trees are kept as the same text, and come back', (t) => {
  const one: Tree = { ...treeOf('b', 'a'), config: new Map([['k', 'v']]) }
  const other: Tree = { ...treeOf('a', 'b'), config: new Map([['k', 'v']]) }
  t.equal(printTree(one), printTree(other))
  t.same(readTree(printTree(one)), other)
  t.end()
})
