/** Bun and Deno serve the shop of docs/embed.md. Both come from npm, into a folder of this suite: 200 MB. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { packKeyhook } from '../support/packed.ts'
import { openShop } from '../support/shop.ts'

t.setTimeout(5 * MINUTE)

const RUNTIMES = {
  bun: { version: '1.4.5', args: ['run', 'bun.mjs'] },
  deno: { version: '2.9.6', args: ['run', '--allow-all', 'deno.mjs'] },
} as const

const folder = t.testdir({ 'package.json': '{}' })
const packages = Object.entries(RUNTIMES).map(([name, { version }]) => `${name}@${version}`)
// Their scripts link the binary that came with them, also where the scripts of others are off.
const quiet = ['--no-audit', '--no-fund', '--silent', '--ignore-scripts=false']
const install = ['install', ...quiet, ...packages]
await promisify(execFile)('npm', install, { cwd: folder })

const packed = await packKeyhook()
t.teardown(() => packed.remove())
const shop = await openShop(packed, { database: 'own-file', server: 'hono' })
// As npm writes it where the page is followed: Deno takes packages that it names from node_modules.
const dependencies = Object.fromEntries(
  ['keyhook', 'sequelize', 'sqlite3'].map((one) => [one, '*']),
)
await writeFile(join(shop.folder, 'package.json'), JSON.stringify({ dependencies }))

for (const [name, { args }] of Object.entries(RUNTIMES)) {
  await t.test(`${name} serves it`, async (t) => {
    const running = await shop.start([join(folder, 'node_modules/.bin', name), ...args])
    t.teardown(() => running.stop())
    const refused = await fetch(`${running.url}/developer/v1/keys`)
    t.equal(refused.status, 401)
    const document = await fetch(`${running.url}/developer/v1/openapi.json`)
    t.ok(Object.keys(((await document.json()) as { paths: object }).paths).length > 20)
  })
}
