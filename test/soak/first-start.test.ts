import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediate } from 'node:timers/promises'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { askControl } from '../support/control.ts'
import { startDaemonProcess } from '../support/daemon.ts'

const OWNER = {
  KEYHOOK_OWNER_EMAIL: 'owner@example.com',
  KEYHOOK_OWNER_PASSWORD: 'a password of this test',
}

/**
 * Facts of a first start, in their order: it is killed as soon as each is there. The database is created, its
 * schema committed, the key written, the id written.
 */
const POINTS: Readonly<Record<string, (folder: string) => boolean>> = {
  'the database was created': (folder) => existsSync(join(folder, 'keyhook.db')),
  'the database was written to': (folder) => sizeOf(join(folder, 'keyhook.db-wal')) > 0,
  'its schema was committed': (folder) => existsSync(join(folder, 'apps')),
  'the key was created': (folder) => existsSync(join(folder, 'master-key')),
  'the id was being written': (folder) => existsSync(join(folder, 'keyhook.id.unfinished')),
  'the id was written': (folder) => existsSync(join(folder, 'keyhook.id')),
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

for (const [what, isReached] of Object.entries(POINTS)) {
  await t.test(`a first start that is killed once ${what} is continued by the next`, async (t) => {
    const folder = t.testdir()
    const command = [join(ROOT, 'dist/daemon/main.js'), 'serve', '--dev']
    const ports = { KEYHOOK_PORT: '0', KEYHOOK_APPS_PORT: '0' }
    const child = spawn(process.execPath, command, {
      env: { PATH: process.env['PATH'], ...OWNER, ...ports, KEYHOOK_DATA_DIR: folder },
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    // Without a pause: some of these facts hold for less than a millisecond.
    const isPassed = (): boolean => isReached(folder) || existsSync(join(folder, 'keyhook.id'))
    while (!isPassed()) await immediate()
    child.kill('SIGKILL')
    await exited
    const again = await startDaemonProcess({ ...OWNER, KEYHOOK_DATA_DIR: folder })
    t.match(await askControl(folder)('GET', '/readyz'), { status: 'ok' })
    t.equal(await again.end('SIGTERM'), 0)
  })
}
