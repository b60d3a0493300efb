import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MINUTE } from '../../lib/time.ts'
import { ROOT } from '../arch/source.ts'
import { IS_SOAK } from './soak.ts'

const PACKAGE = 'github.com/benbjohnson/litestream/cmd/litestream@v0.3.13'

const answers = (program: string): boolean =>
  spawnSync(program, ['version'], { stdio: 'ignore' }).status === 0

/** The program on the PATH; in the long form else one that Go builds, once per checkout; undefined where neither is. */
export function findLitestream(): string | undefined {
  if (answers('litestream')) return 'litestream'
  // Not in a folder where others of this machine may put programs.
  const folder = join(ROOT, 'node_modules/.cache/litestream')
  const built = join(folder, 'litestream')
  if (answers(built)) return built
  if (!IS_SOAK || spawnSync('go', ['version']).status !== 0) return undefined
  mkdirSync(folder, { recursive: true })
  const { status, stderr } = spawnSync('go', ['install', PACKAGE], {
    env: { ...process.env, GOBIN: folder },
    encoding: 'utf8',
    timeout: 8 * MINUTE,
  })
  if (status !== 0) throw new Error(`Litestream cannot be built: ${stderr}`)
  return built
}
