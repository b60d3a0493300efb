import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { ROOT } from '../arch/source.ts'
import { startDaemonProcess } from './daemon.ts'
import type { Replacements } from './page.ts'
import { blocksOf, freePort, openShell, walk } from './page.ts'

/**
 * Walks a page of docs/ that starts a daemon with its first command, and saves a `receiver.mjs`.
 *
 * @param folder the daemon's data
 */
export async function walkPage(
  t: Test,
  page: string,
  folder: string,
  replacements: Replacements = {},
): Promise<void> {
  const port = await freePort()
  const receiver = `receiver-${process.pid}-${port}.mjs`
  const blocks = blocksOf(page, {
    '127.0.0.1:8420': `127.0.0.1:${port}`,
    9000: await freePort(),
    'node receiver.mjs': `node ${receiver}`,
    ...replacements,
  })
  const textOf = (wanted: string): string => blocks.find(({ kind }) => kind === wanted)?.text ?? ''

  // The page's first command, but for `npm ci`, which whoever runs this test has just done.
  const first = textOf('sh daemon')
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
  writeFileSync(join(ROOT, receiver), textOf('js receiver.mjs'))
  t.teardown(async () => {
    rmSync(join(ROOT, receiver), { force: true })
    await shell.close()
    await daemon.end('SIGTERM')
  })
  await walk(t, blocks, shell)
}
