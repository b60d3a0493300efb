/**
 * `npm test`, once everything is compiled: all suites, two files at a time, and beside them the checks of the
 * source. Given folders of test/, only the suites in them, and no checks. A file that needs PostgreSQL starts a
 * server of its own: the feed waits for every transaction of its server, those of other files included.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import { ROOT } from './arch/source.ts'

const JOBS = 2

/** Folders whose suites take longest begin first: at the end no job waits for the other. */
const FIRST = ['soak', 'e2e', 'adversarial', 'plugins']

const CHECKS: readonly (readonly [program: string, ...flags: string[]])[] = [
  ['prettier', '--check', '--log-level', 'warn', '.'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['knip'],
]

function suites(folders: readonly string[]): readonly string[] {
  const rankOf = (file: string): number => {
    const rank = FIRST.indexOf(file.split(sep)[0] ?? '')
    return rank === -1 ? FIRST.length : rank
  }
  return readdirSync(join(ROOT, 'dist/test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .filter((file) => folders.length === 0 || folders.some((one) => file.startsWith(one + sep)))
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
    .map((file) => join('dist/test', file))
}

/** Runs a program of the development dependencies; resolves with its exit code and what it printed. */
async function run(
  [program, ...flags]: readonly string[],
  stdio: 'inherit' | 'pipe',
): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(join(ROOT, 'node_modules/.bin', String(program)), flags, {
    cwd: ROOT,
    stdio: ['ignore', stdio, stdio],
  })
  const printed: Buffer[] = []
  child.stdout?.on('data', (part: Buffer) => printed.push(part))
  child.stderr?.on('data', (part: Buffer) => printed.push(part))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code: code ?? 1, output: Buffer.concat(printed).toString() }
}

/** One after the other: they are to take no more of the machine than the suites leave. */
async function runChecks(): Promise<readonly string[]> {
  const failures: string[] = []
  for (const check of CHECKS) {
    const { code, output } = await run(check, 'pipe')
    if (code !== 0) failures.push(`not ok - ${check.join(' ')}\n${output}`)
  }
  return failures
}

const folders = process.argv.slice(2)
const [{ code }, failures] = await Promise.all([
  run(['tap', `--jobs=${JOBS}`, ...suites(folders)], 'inherit'),
  folders.length === 0 ? runChecks() : [],
])
for (const failure of failures) process.stderr.write(failure)
process.exitCode = code === 0 && failures.length > 0 ? 1 : code
