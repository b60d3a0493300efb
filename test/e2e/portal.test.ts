import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../support/free-port.ts'
import { blocksOf, openShell, walk } from '../support/page.ts'

await t.test('every command of docs/portal.md does what the page says', async (t) => {
  const folder = t.testdir({})
  const blocks = blocksOf('portal.md', { 3000: await freePort() })
  const shop = blocks.find(({ kind }) => kind === 'js shop.mjs')?.text ?? ''
  t.match(shop, 'keyhook.portal.link')
  // A testdir is inside the repository, so its package is found by its own name.
  writeFileSync(join(folder, 'shop.mjs'), shop)
  const shell = openShell(folder, { PATH: process.env['PATH'] })
  t.teardown(() => shell.close())
  await walk(t, blocks, shell)
})
