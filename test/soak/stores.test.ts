/** The two clients of docs/stores.md, from the tarball. The Node of one comes from npm, into a folder of this suite. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { sqlClientCases } from '../../plugins/store/sql/conformance.ts'
import { storeCases } from '../../plugins/store/conformance.ts'
import { ROOT } from '../arch/source.ts'
import { packKeyhook } from '../support/packed.ts'
import { blocksOf } from '../support/page.ts'

t.setTimeout(10 * MINUTE)

/** The package that carries Node itself: no script of an installation runs. */
const NODE = `node-${process.platform}-${process.arch}`
const VERSION = '26.10.0'
const exec = promisify(execFile)

const newer = t.testdir({ 'package.json': '{}' })
const install = ['install', '--no-audit', '--no-fund', '--silent', `${NODE}@${VERSION}`]
await exec('npm', install, { cwd: newer })

const packed = await packKeyhook()
t.teardown(() => packed.remove())
const folder = await packed.install(['@electric-sql/pglite'])
for (const name of ['pglite.mjs', 'node-sqlite.mjs']) {
  const block = blocksOf('stores.md').find(({ kind }) => kind === `js ${name}`)
  if (block === undefined) throw new Error(`docs/stores.md has no ${name}`)
  await writeFile(join(folder, name), block.text)
}
const report = join(ROOT, 'test/support/stranger/store-report.mjs')
await writeFile(join(folder, 'report.mjs'), await readFile(report, 'utf8'))

interface Report {
  readonly ran: number
  readonly failed: Readonly<Record<string, string>>
  readonly left: readonly string[]
}

/** What a database in one process, opened in memory or for one case, does not claim. */
const ONE_PROCESS = ['overlap', 'watch', 'manyProcesses', 'durable'] as const

const CLIENTS = {
  pglite: { node: process.execPath, lacks: ['join', 'concurrentReads', ...ONE_PROCESS] },
  nodeSqlite: { node: join(newer, 'node_modules', NODE, 'bin/node'), lacks: ONE_PROCESS },
} as const

for (const [name, { node, lacks }] of Object.entries(CLIENTS)) {
  await t.test(`${name} keeps both contracts`, async (t) => {
    const { stdout } = await exec(node, ['report.mjs', name], { cwd: folder, maxBuffer: 2 ** 26 })
    const { ran, failed, left } = JSON.parse(stdout) as Report
    t.same(failed, {})
    const unable = storeCases.filter(({ requires = '' }) => lacks.some((one) => one === requires))
    t.same(
      left,
      unable.map((one) => one.name),
      'only what it does not claim is left',
    )
    t.equal(ran, sqlClientCases.length + storeCases.length - left.length)
  })
}
