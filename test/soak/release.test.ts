/** A release, built twice of what is committed. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { ROOT } from '../arch/source.ts'
import { IS_SOAK } from '../support/soak.ts'

t.setTimeout(15 * MINUTE)

const exec = promisify(execFile)
const MAIN = join(ROOT, 'dist/daemon/release/main.js')

// Two builds take longer than all else of `npm test`.
if (IS_SOAK) {
  await t.test('a dry run makes everything, and two builds are equal', async (t) => {
    const output = join(t.testdir({}), 'release')
    const repository = 'https://git.example.com/shop/keyhook'
    const args = [MAIN, '--dry-run', '--repository', repository, '--output', output]
    const { stdout } = await exec(process.execPath, args, { cwd: ROOT })
    t.match(stdout, /may be published/)
    t.match(readdirSync(output).sort(), [
      'NOTES.md',
      'SHA256SUMS',
      'THIRD-PARTY-LICENSES.txt',
      /^keyhook-.*\.tgz$/,
      'sbom.cdx.json',
    ])
    t.match(readFileSync(join(output, 'SHA256SUMS'), 'utf8'), /^[0-9a-f]{64} {2}keyhook-/)
  })
} else {
  t.comment('the soak builds a release twice')
}
