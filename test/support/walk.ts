import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { ROOT } from '../arch/source.ts'
import { startDaemonProcess } from './daemon.ts'
import type { Replacements } from './page.ts'
import { blocksOf, openShell, settingsOf, walk } from './page.ts'
import { freePort } from './free-port.ts'

/**
 * Walks a page of docs/ that starts a daemon with its first command, and saves a `receiver.mjs`.
 *
 * @param folder the daemon's data
 * @param settings of the daemon, beside those of the page; its port is any free one by default
 */
export async function walkPage(
  t: Test,
  page: string,
  folder: string,
  replacements: Replacements = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const port = Number(settings['KEYHOOK_PORT'] ?? (await freePort()))
  const receiver = `receiver-${process.pid}-${port}.mjs`
  const blocks = blocksOf(page, {
    '127.0.0.1:8420': `127.0.0.1:${port}`,
    9000: await freePort(),
    'node receiver.mjs': `node ${receiver}`,
    // npx takes a second of each command; the walk of start.md keeps it, so that it is tried.
    'npx keyhook': 'node dist/daemon/main.js',
    ...replacements,
  })
  const textOf = (wanted: string): string => blocks.find(({ kind }) => kind === wanted)?.text ?? ''

  // The page's first command, but for `npm ci`, which whoever runs this test has just done.
  const first = textOf('sh daemon')
  t.match(first, 'npm start -- --dev')
  const env = { KEYHOOK_DATA_DIR: folder, KEYHOOK_PORT: String(port) }
  const given = { ...settingsOf(first), ...settingsOf(textOf('sh model')), ...settings }
  const daemon = await startDaemonProcess({ ...given, ...env })
  const shell = openShell(ROOT, { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env })
  writeFileSync(join(ROOT, receiver), textOf('js receiver.mjs'))
  t.teardown(async () => {
    rmSync(join(ROOT, receiver), { force: true })
    await shell.close()
    await daemon.end('SIGTERM')
  })
  await walk(t, blocks, shell)
}
