import { brotliDecompressSync } from 'node:zlib'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { runCases } from '../../plugins/conformance.ts'
import { deployCases } from '../../plugins/deploy/conformance.ts'
import { createWorld } from '../../plugins/deploy/conformance/harness.ts'
import { createHostedDeployer } from '../../plugins/deploy/hosted.ts'
import type { ServedFile } from '../../plugins/deploy/manifest.ts'
import { printManifest, readManifest } from '../../plugins/deploy/manifest.ts'
import { hasFingerprint, isServed, mediaOf } from '../../plugins/deploy/media.ts'
import { createMemoryDeployer } from '../../plugins/deploy/memory.ts'

const SUITES = { memory: createMemoryDeployer, hosted: createHostedDeployer }

for (const [name, create] of Object.entries(SUITES)) {
  await t.test(`${name} keeps the contract of the deploy room`, async (t) => {
    const makeHarness = async () => {
      const deployer = create()
      return { deployer, close: () => deployer.close() }
    }
    const register = (title: string, run: () => Promise<void>): void => {
      void t.test(title, async (t) => {
        await run()
        t.pass('as the contract says')
      })
    }
    t.same(runCases(deployCases, makeHarness, register), [])
  })
}

await t.test('hosted: what gets smaller is kept smaller too', async (t) => {
  const deployer = createHostedDeployer()
  const world = createWorld()
  const page = '<p>Tea and cake, every day.</p>\n'
  const files = {
    'large.html': page.repeat(5000),
    'small.html': page.repeat(20),
    'large.css': page.repeat(5000),
    'photo.jpg': page.repeat(5000),
    'noise.txt': randomBytes(9000).toString('base64'),
    'random.wasm': randomBytes(9000),
    'unknown.xyz': page.repeat(5000),
  }
  const { files: served } = await deployer.build(world.task(files), world.tools)
  const formsOf = (path: string) => Object.keys(served.get(path)?.encoded ?? {})
  t.same(formsOf('large.html'), ['br', 'gzip'])
  t.same(formsOf('large.css'), ['br', 'gzip'])
  t.same(formsOf('small.html'), [], 'it fits in what is sent at once')
  t.same(formsOf('photo.jpg'), [], 'it is compressed already')
  t.same(formsOf('random.wasm'), [], 'it is not a tenth smaller')
  t.same(formsOf('noise.txt'), ['br', 'gzip'])
  t.same(formsOf('unknown.xyz'), [])
  const { br } = served.get('large.html')?.encoded ?? {}
  const form = world.kept.get(br?.sha256 ?? '') ?? new Uint8Array()
  t.equal(brotliDecompressSync(form).toString(), files['large.html'])
  t.same(served.get('large.css')?.encoded, served.get('large.html')?.encoded, 'kept once')
})

await t.test('hosted: only what has no forms yet is read and compressed', async (t) => {
  const deployer = createHostedDeployer()
  const world = createWorld()
  const page = '<p>Tea and cake, every day.</p>\n'.repeat(200)
  const files = { 'a.html': page, 'b.html': `${page}b`, 'c.html': page }
  const first = await deployer.build(world.task(files), world.tools)
  const forms = new Map([...first.files.values()].map((file) => [file.sha256, file.encoded]))
  const reads: string[] = []
  const tools = {
    ...world.tools,
    async read(sha256: string) {
      reads.push(sha256)
      return world.tools.read(sha256)
    },
  }
  const task = { ...world.task({ ...files, 'd.html': `${page}d` }), forms }
  const next = await deployer.build(task, tools)
  t.same(reads, [next.files.get('d.html')?.sha256])
  t.same(next.files.get('a.html'), first.files.get('a.html'))
})

await t.test('hosted: what fails is not gone on with', async (t) => {
  const deployer = createHostedDeployer()
  const world = createWorld()
  const page = '<p>Tea and cake, every day.</p>\n'.repeat(200)
  const names = Array.from({ length: 50 }, (_, index) => [`${index}.html`, `${page}${index}`])
  let reads = 0
  const tools = {
    ...world.tools,
    async read() {
      reads += 1
      throw new Error('the disk is gone')
    },
  }
  const task = world.task(Object.fromEntries(names) as Record<string, string>)
  await t.rejects(deployer.build(task, tools), /the disk is gone/)
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(reads < 10, 'the others are not begun')
})

await t.test('hosted: closing ends what is under way, and what comes later', async (t) => {
  const deployer = createHostedDeployer()
  const world = createWorld({
    async read() {
      await deployer.close()
      return (async function* () {
        yield Buffer.from('<p>')
      })()
    },
  })
  const task = world.task({ 'index.html': '<p>Tea</p>\n'.repeat(500) })
  await t.rejects(deployer.build(task, world.tools), { code: 'target_unavailable' })
  await t.rejects(deployer.build(task, world.tools), { code: 'target_unavailable' })
})

await t.test('names that bear a fingerprint, and those that only look like it', async (t) => {
  const lasting = [
    'index-BfX3k9aQ.js',
    'assets/app.3f9a2c1b.css',
    'main.8d4f1e0a7b6c5d2e9f3a.js',
    'chunk-QW3XJ4K7.js',
    '3f9a2c1b7d.woff2',
    'logo_aB3xY9Kq2.svg',
  ]
  const changing = [
    'index.html',
    'report-20260131.pdf',
    'IMG20260131.jpg',
    'DSC01234567.jpg',
    'bootstrap4.css',
    'jquery-bootstrap4.js',
    'MyVersion2.js',
    'deadbeef.js',
    'notes-decade90.txt',
    'app-a1b2.js',
    'version-2beta.js',
    '3f9a2c1b7d',
    '3f9a2c1b/app.js',
    'posts/01890a5d-ac96-774b-bcce-b302099a8059.json',
    'posts/3f9a2c1b7d.html',
    'posts/3f9a2c1b7d.HTM',
  ]
  for (const path of lasting) t.equal(hasFingerprint(path), true, path)
  for (const path of changing) t.equal(hasFingerprint(path), false, path)
})

await t.test('types go by the extension, whatever its case, and never by a guess', async (t) => {
  const rows: Readonly<Record<string, string>> = {
    'INDEX.HTML': 'text/html; charset=utf-8',
    'a.b/c.js': 'text/javascript; charset=utf-8',
    'a.mjs': 'text/javascript; charset=utf-8',
    'a.svg': 'image/svg+xml; charset=utf-8',
    'a.webmanifest': 'application/manifest+json; charset=utf-8',
    'a.woff2': 'font/woff2',
    'a.wasm': 'application/wasm',
    'a.html.exe': 'application/octet-stream',
    'a.constructor': 'application/octet-stream',
    html: 'application/octet-stream',
    'a.js/html': 'application/octet-stream',
    'a.': 'application/octet-stream',
  }
  for (const [path, type] of Object.entries(rows)) t.equal(mediaOf(path).type, type, path)
})

await t.test('what is hidden, and source maps, are served to nobody', async (t) => {
  const behind = ['.env', 'a/.git/config', 'a/.b', 'app.js.map', 'x/app.MJS.map', 'a.css.map']
  for (const path of behind) t.equal(isServed(path), false, path)
  for (const path of ['a.b', 'site.map', 'maps/world.json', 'a.map.js']) {
    t.equal(isServed(path), true, path)
  }
})

await t.test('a manifest is as large as it may be, and no larger', (t) => {
  const printed = (length: number): string => {
    const files = Array.from({ length: 10_000 }, (_, index): [string, ServedFile] => {
      const path = `${String(index)}.js`.padStart(length, 'x')
      const form = { sha256: 'a'.repeat(64), size: 99_999 }
      const encoded = { br: form, gzip: form }
      const type = 'text/javascript; charset=utf-8'
      return [path, { ...form, path, type, immutable: true, encoded }]
    })
    return printManifest({ files: new Map(files), spa: false })
  }
  t.equal(readManifest(printed(140)).files.size, 10_000)
  t.throws(() => printed(180), { code: 'release_too_large', class: 'code', retryable: false })
  t.end()
})

await t.test('a manifest of a version that is not known is not guessed at', (t) => {
  t.throws(() => readManifest('{"version":2,"spa":false,"files":[]}'), { name: 'TypeError' })
  t.end()
})
