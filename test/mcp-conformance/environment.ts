import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'

/** From npm, with the versions of its lock file, in a folder of its own: no dependency of the tests. */
export const SUITE = '@modelcontextprotocol/conformance 0.2.0-alpha.12'
const SOURCE = resolve('test/mcp-conformance')
const PINNED = ['package.json', 'package-lock.json']
const FOLDER = resolve(
  process.env['CONFORMANCE_FOLDER'] ?? `node_modules/.cache/mcp-conformance/${SUITE.split(' ')[1]}`,
)
export const COMMAND: string = join(
  FOLDER,
  'node_modules/@modelcontextprotocol/conformance/dist/index.js',
)
const LONGEST_INSTALL: Millis = 5 * MINUTE

const run = promisify(execFile)

/** @returns why the suite cannot be installed on this machine, if it cannot */
export async function installSuite(): Promise<string | undefined> {
  const ready = join(FOLDER, 'ready')
  if (existsSync(ready)) return undefined
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  for (const name of PINNED) await copyFile(join(SOURCE, name), join(FOLDER, name))
  try {
    // A dependency that is used for reports alone asks for a newer Node than it needs.
    const options = ['--ignore-scripts', '--engine-strict=false', '--no-audit', '--no-fund']
    await run('npm', ['ci', ...options], { cwd: FOLDER, timeout: LONGEST_INSTALL })
  } catch (cause) {
    const { stderr = '', message } = cause as { stderr?: string; message: string }
    return `npm cannot install ${SUITE}. ${stderr.trim().split('\n').at(-1) ?? message}`
  }
  await writeFile(ready, '')
  return undefined
}
