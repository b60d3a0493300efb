/** The bundle of the daemon: nothing that a process loads is in it and beside it, so that there is one copy of each module. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { startDaemonProcess } from '../support/daemon.ts'

const exec = promisify(execFile)
const DIST = pathToFileURL(join(ROOT, 'dist/')).href
const RECORDER = new URL('../support/record-loads.js', import.meta.url).href
const BUNDLED = /^daemon\/bundle\//

/** Modules of Keyhook that a process loaded, by path: as a file, and in a file of the bundle. */
function loadedIn(file: string): { readonly alone: Set<string>; readonly bundled: string[] } {
  const own = [...new Set(readFileSync(file, 'utf8').split('\n'))]
    .filter((url) => url.startsWith(DIST))
    .map((url) => url.slice(DIST.length))
  const bundled = own
    .filter((path) => BUNDLED.test(path))
    .flatMap((path) =>
      Array.from(
        readFileSync(join(ROOT, 'dist', path), 'utf8').matchAll(/^\/\/ dist\/(\S+)$/gm),
        ([, module = '']) => module,
      ),
    )
  return { alone: new Set(own.filter((path) => !BUNDLED.test(path))), bundled }
}

function checkCopies(t: Test, file: string): void {
  const { alone, bundled } = loadedIn(file)
  t.ok(
    alone.size > 50 && bundled.length > 300,
    `${alone.size} files, ${bundled.length} in the bundle`,
  )
  t.same(
    bundled.filter((path) => alone.has(path)),
    [],
  )
  t.equal(new Set(bundled).size, bundled.length, 'each once')
}

await t.test('a daemon that serves has one copy of each module', async (t) => {
  const place = t.testdir({ loads: '' })
  const loads = join(place, 'loads')
  const daemon = await startDaemonProcess(
    { KEYHOOK_DATA_DIR: join(place, 'data'), KEYHOOK_TEST_LOADS: loads },
    ROOT,
    { flags: ['--import', RECORDER] },
  )
  t.equal((await fetch(`${daemon.url}/v1/openapi.json`)).status, 200)
  t.equal(await daemon.end('SIGTERM'), 0)
  checkCopies(t, loads)
})

await t.test('a backend that embeds the daemon has one copy of each module', async (t) => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, unknown>>
  }
  const place = t.testdir({ loads: '' })
  const loads = join(place, 'loads')
  const names = Object.keys(exports).filter((name) => !/json$|conformance$|adapters/.test(name))
  const program = join(place, 'program.mjs')
  const lines = [
    "import { createKeyhook } from 'keyhook/daemon'",
    ...names.map((name) => `await import('keyhook${name.slice(1)}')`),
    `const keyhook = await createKeyhook({ database: ${JSON.stringify(join(place, 'a.sqlite'))},`,
    "  masterKey: `k1:${Buffer.alloc(32, 1).toString('base64')}`, scopes: { orders: ['read'] } })",
    'await keyhook.stop()',
  ]
  writeFileSync(program, lines.join('\n'))
  const env = { ...process.env, KEYHOOK_TEST_LOADS: loads }
  await exec(process.execPath, ['--import', RECORDER, program], { cwd: place, env })
  checkCopies(t, loads)
})

await t.test('the bundle exports what the module does', async (t) => {
  const bundle: string = '../../daemon/bundle/embed.js'
  const [bundled, module] = (await Promise.all([
    import(bundle),
    import('../../daemon/embed/index.ts'),
  ])) as readonly object[]
  t.same(Object.keys(bundled ?? {}).sort(), Object.keys(module ?? {}).sort())
})
