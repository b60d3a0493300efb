/**
 * The suites of the stores, of backups, of the outbox and of crashes over SQLite of Node itself: on the Node of the single
 * executable, which its builder installs, whatever Node runs this one.
 */
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { TOOLS, installToolchain } from '../../daemon/executable/toolchain.ts'
import { MINUTE } from '../../lib/time.ts'
import { ROOT } from '../arch/source.ts'
import { sized } from '../support/soak.ts'

t.setTimeout(15 * MINUTE)

const SUITES = [
  'plugins/store',
  'plugins/store-sqlite',
  'plugins/sql-client',
  'soak/backup-restore',
  ...sized<readonly string[]>(
    [],
    [],
    ['plugins/outbox', 'platform/platform', 'platform/search', 'daemon/doctor', 'soak/crash'],
  ),
]

const { builder } = await installToolchain(TOOLS, process.arch === 'arm64' ? 'arm64' : 'x64')
const preload = pathToFileURL(join(ROOT, 'dist/test/support/node-sqlite.js')).href

/** As `node` runs it; processes that it starts have the same Node and the same SQLite. */
function run(suite: string): Promise<{ readonly code: number; readonly output: string }> {
  const env = {
    ...process.env,
    PATH: `${dirname(builder)}:${process.env['PATH'] ?? ''}`,
    // Migrated by the other driver: here the migrations run as well.
    KEYHOOK_TEST_MIGRATED: undefined,
    NODE_OPTIONS: `--import=${preload}`,
    TAP_TIMEOUT: '600',
    TAP_FAIL_SKIP: '1',
  }
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env, maxBuffer: 64 * 1024 * 1024 }
    execFile(builder, [`dist/test/${suite}.test.js`], options, (failed, output) => {
      resolve({ code: failed === null ? 0 : Number(failed.code ?? 1), output })
    })
  })
}

for (const suite of SUITES) {
  await t.test(`${suite} over node:sqlite`, async (t) => {
    const { code, output } = await run(suite)
    const [line = '', passed = ''] =
      /^# \{ total: \d+, pass: (\d+)(?:, .*)? \}$/m.exec(output) ?? []
    t.comment(line)
    const failures = output.split('\n').filter((one) => /^ *not ok/.test(one))
    t.equal(code, 0, failures.slice(0, 20).join('\n'))
    t.ok(Number(passed) > 5, `${passed} passed`)
  })
}
