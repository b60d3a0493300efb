import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT, isDeclaration, sourcesIn } from './source.ts'

const sources = ['lib', 'plugins', 'daemon', 'studio'].flatMap(sourcesIn)
const lines = (text: string): number => text.split('\n').length - 1

/** How a file begins that `npm run docs` writes: it is read by nobody as a whole. */
const WRITTEN = '/** Written from the operations'

await t.test(
  'rooms are small: median about 120 lines, few above 300, none above 500',
  async (t) => {
    const rooms = sources.filter(
      ({ path, text }) => !path.includes('/migrations/') && !text.startsWith(WRITTEN),
    )
    const sizes = rooms.map(({ text }) => lines(text)).sort((a, b) => a - b)
    t.ok((sizes[Math.floor(sizes.length / 2)] ?? 0) <= 120, 'median')
    t.ok(sizes.filter((size) => size > 300).length <= sizes.length / 50, 'above 300')
    t.same(
      rooms.filter(({ text }) => lines(text) > 500).map(({ path }) => path),
      [],
    )
  },
)

/** Forwards a package, and becomes a bundle of it at build. */
const BUNDLED = 'daemon/mcp/sdk.ts'

await t.test('few files are too small to be read alone, and none only forwards', async (t) => {
  const small = sources.filter((file) => lines(file.text) <= 25 && !isDeclaration(file))
  const most = Math.floor(sources.length / 20)
  const paths = small.map(({ path }) => path).join(' ')
  t.ok(small.length <= most, `${small.length} small files, at most ${most}: ${paths}`)
  const forward = /\bexport (type )?(\*( as \w+)?|\{[^}]*\}) from '[^']*'/g
  t.same(
    sources
      .filter(
        ({ path, text }) =>
          path !== BUNDLED &&
          text
            .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
            .replaceAll(forward, '')
            .trim() === '',
      )
      .map(({ path }) => path),
    [],
  )
})

await t.test('files of the daemon lie in folders of their subjects', async (t) => {
  t.same(
    sources
      .map(({ path }) => path)
      .filter((path) => /^daemon\/[^/]+\.ts$/.test(path))
      .sort(),
    ['daemon/daemon.ts', 'daemon/main.ts', 'daemon/platform.ts'],
  )
})

await t.test('files and folders are named after the domain', async (t) => {
  const junk = /(^|\/)(utils?|helpers?|managers?|misc|common)(\.ts|\/)/
  t.same(
    sources.map(({ path }) => path).filter((path) => junk.test(path)),
    [],
  )
})

await t.test('nothing in the repository names a machine or a registry', async (t) => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n')
  const foreign = new RegExp(
    ['/wor' + 'k/', '/ro' + 'ot/', '"resol' + 'ved":', 'registry\\.npm' + 'js'].join('|'),
  )
  t.same(
    tracked.filter((path) => foreign.test(readFileSync(join(ROOT, path), 'utf8'))),
    [],
  )
})

await t.test('the core store has at most 90 methods, so that a third party can write one', (t) => {
  const declared = /^ {2}[a-zA-Z]+\??(<[^>]*>)?\(/gm
  const contract = sourcesIn('plugins/store/contract').map(({ text }) => text)
  const index = sourcesIn('plugins/store').find(({ path }) => path === 'plugins/store/contract.ts')
  const ports = sourcesIn('lib/engine').find(({ path }) => path === 'lib/engine/ports.ts')
  const engine = /export interface Engine(Tx|Store) \{[^]*?^\}/gm
  const texts = [...contract, index?.text ?? '', ...(ports?.text.match(engine) ?? [])]
  const methods = texts.flatMap((text) => text.match(declared) ?? [])
  t.ok(methods.length > 60 && methods.length <= 90, `${methods.length} methods`)
  t.end()
})
