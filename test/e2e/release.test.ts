/** What `npm run release` checks of a release; the soak builds one twice (test/soak/release.test.ts). */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  SHIPPED,
  USED,
  isAllowed,
  licenceOf,
  printLicences,
  refusedOf,
} from '../../daemon/release/licences.ts'
import { contentFaults, manifestFaults, publishedManifest } from '../../daemon/release/manifest.ts'
import type { Published } from '../../daemon/release/manifest.ts'
import { notesOf } from '../../daemon/release/notes.ts'
import { everyPackage, nameOf, readLock, shippedPackages } from '../../daemon/release/packages.ts'
import { printSbom } from '../../daemon/release/sbom.ts'
import { ROOT } from '../arch/source.ts'

const lock = readLock(ROOT)
const shipped = shippedPackages(lock)
const names = new Set(shipped.map(([place]) => nameOf(place)))

await t.test('every package has a licence that is allowed', async (t) => {
  t.ok(everyPackage(lock).length > 500)
  t.same(refusedOf(everyPackage(lock), USED), [])
  t.same(refusedOf(shipped, SHIPPED), [])
})

await t.test('a licence that is not allowed is found, in an expression too', async (t) => {
  for (const [expression, allowed] of Object.entries({
    MIT: true,
    'GPL-3.0-or-later': false,
    '(MIT OR GPL-3.0-or-later)': true,
    '(MIT AND GPL-3.0-or-later)': false,
    '(MIT AND Zlib)': true,
    'SEE LICENSE IN x': false,
  })) {
    t.equal(isAllowed(expression, SHIPPED), allowed, expression)
  }
  t.same(refusedOf([['node_modules/a', { version: '1.0.0' }]], USED), ['a@1.0.0: no licence'])
})

/** Packages that a folder of sources imports. */
function importedBy(folder: string): ReadonlySet<string> {
  const files = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  const imports = files.flatMap((text) => [...text.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)/g)])
  return new Set(imports.map(([, name = '']) => name))
}

await t.test('what Studio is built of is published with it', async (t) => {
  const tools = new Set(['vite', '@vitejs/plugin-react', 'node', 'keyhook'])
  const missing = [...importedBy('studio')].filter((name) => !names.has(name) && !tools.has(name))
  t.same(missing, [])
})

await t.test('the bill of materials has every package once, with digest and licence', async (t) => {
  const own = { name: 'keyhook', version: '0.1.0', license: 'MIT' }
  const text = printSbom(own, shipped)
  t.equal(text, printSbom(own, shippedPackages(readLock(ROOT))), 'the same for the same lock')
  const sbom = JSON.parse(text) as {
    readonly components: readonly { readonly name: string; readonly hashes?: readonly object[] }[]
  }
  t.match(sbom, { bomFormat: 'CycloneDX', metadata: { component: { name: 'keyhook' } } })
  for (const name of ['koa', 'react', 'sequelize', 'pg', '@modelcontextprotocol/server']) {
    const found = sbom.components.filter((one) => one.name === name)
    t.match(found, [{ licenses: [{}], purl: /^pkg:npm\// }], name)
    t.match(found[0]?.hashes, [{ alg: 'SHA-512', content: /^[0-9a-f]{128}$/ }], name)
  }
  t.notOk(
    sbom.components.some((one) => one.name === 'tap'),
    'nothing that only tests',
  )
})

await t.test('the texts of licences name every package', async (t) => {
  const own = shipped.filter(([place]) => ['koa', 'react', 'busboy'].includes(nameOf(place)))
  const text = printLicences(own, ROOT)
  for (const [place, one] of own) {
    t.match(text, `${nameOf(place)} ${one.version} (${licenceOf(place, one) ?? ''})`)
  }
  t.match(text, /Permission is hereby granted/)
})

await t.test('what a manifest lacks is named', async (t) => {
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Published
  const published = publishedManifest(own, 'https://git.example.com/shop/keyhook')
  t.same(manifestFaults(published), [])
  t.match(published.repository, { url: 'git+https://git.example.com/shop/keyhook.git' })
  t.equal(manifestFaults({}).length, 7)
  t.match(manifestFaults({ ...published, scripts: { postinstall: 'x' } }), [/when it is installed/])
})

await t.test('what is missing of a package, and what must not be in it, is named', async (t) => {
  const manifest = {
    imports: { '#a': { default: './dist/a.js' } },
    exports: { '.': './dist/index.js', './b': { types: './dist/b.d.ts', default: './dist/b.js' } },
    bin: { a: 'dist/main.js' },
  }
  const built = ['index.js', 'index.d.ts', 'main.js', 'a.js', 'b.js', 'b.d.ts']
  const beside = ['package.json', 'README.md', 'LICENSE', 'docs/CHANGELOG.md']
  const files = new Set([...built.map((name) => `dist/${name}`), ...beside])
  t.same(contentFaults(manifest, files), [])
  t.same(contentFaults(manifest, new Set([...files, 'dist/a.test.js'])), [
    'dist/a.test.js must not be published',
  ])
  for (const name of ['dist/index.d.ts', 'dist/b.js', 'dist/a.js']) {
    const others = new Set([...files].filter((one) => one !== name))
    t.same(contentFaults(manifest, others), [`${name} is missing`])
  }
  const untyped = { ...manifest, exports: { './b': { default: './dist/b.js' } } }
  t.same(contentFaults(untyped, files), ['types of ./b is missing'])
})

await t.test('notes are those of the changelog', async (t) => {
  const changelog = '# Changelog\n\n## Unreleased\n\n- New\n\n## 0.1.0\n\nThe first.\n'
  t.equal(notesOf(changelog, '0.2.0'), '# Keyhook 0.2.0\n\n- New\n')
  t.equal(notesOf(changelog, '0.1.0'), '# Keyhook 0.1.0\n\nThe first.\n')
  t.equal(notesOf(changelog, '0.1'), '# Keyhook 0.1\n\n- New\n', 'another version')
  t.throws(() => notesOf('# Changelog\n', '0.1.0'), /says nothing of 0\.1\.0/)
})
