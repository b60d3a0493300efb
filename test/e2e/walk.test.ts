import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { blocksOf, freePort, openShell, walk } from '../support/page.ts'

await t.test('every command of docs/start.md does what the page says', async (t) => {
  const port = await freePort()
  const receiver = join(ROOT, `receiver-${process.pid}.mjs`)
  const blocks = blocksOf('start.md', {
    '127.0.0.1:8420': `127.0.0.1:${port}`,
    9000: await freePort(),
    'node receiver.mjs': `node ${receiver}`,
  })
  const folder = t.testdir()

  // The page's first command, but for `npm ci`, which whoever runs this test has just done.
  const first = blocks.find(({ kind }) => kind === 'sh daemon')?.text ?? ''
  t.match(first, /'npm ci && npm start -- --dev'/)
  const settings = Object.fromEntries(
    [...first.matchAll(/(KEYHOOK_\w+)=('[^']*'|\S+)/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll("'", ''),
    ]),
  )
  const env = { KEYHOOK_DATA_DIR: folder, KEYHOOK_PORT: String(port) }
  const daemon = await startDaemonProcess({ ...settings, ...env })
  const shell = openShell(ROOT, { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env })
  t.teardown(async () => {
    await shell.close()
    await daemon.end('SIGTERM')
  })

  writeFileSync(receiver, blocks.find(({ kind }) => kind === 'js receiver.mjs')?.text ?? '')
  t.teardown(() => {
    rmSync(receiver, { force: true })
  })
  await walk(t, blocks, shell)
})
