/**
 * `npm test`, once everything is compiled: all suites, one file more at a time than there are cores since many wait
 * for a process that they started, and beside them the checks of the source. Given folders of test/, only the suites in them, and no checks. A file that needs PostgreSQL starts a
 * server of its own: the feed waits for every transaction of its server, those of other files included.
 *
 * A suite is run as `node` runs it. tap's own runner loads hooks into it and into every process that it starts,
 * daemons included, which look at each module: up to a third of the time went there.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, sep } from 'node:path'
import type { Millis } from '../lib/time.ts'
import { MINUTE } from '../lib/time.ts'
import { ROOT } from './arch/source.ts'

const JOBS = availableParallelism() + 1

/** Folders whose suites take longest begin first: at the end no job waits for the other. */
const FIRST = ['soak', 'e2e', 'adversarial', 'plugins']

/** A suite that says nothing else ends after 240 seconds, and one that skips anything fails. */
const TAP = { TAP_TIMEOUT: '240', TAP_FAIL_SKIP: '1' }

/** Beyond what any suite takes for itself: it cannot end itself while it never yields. */
const LONGEST: Millis = 20 * MINUTE

const CHECKS: readonly (readonly [program: string, ...flags: string[]])[] = [
  ['prettier', '--check', '--log-level', 'warn', '.'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['knip'],
]

interface Ended {
  readonly code: number
  readonly output: string
}

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

async function run(program: string, flags: readonly string[], timeout?: Millis): Promise<Ended> {
  const child = spawn(program, flags, {
    cwd: ROOT,
    env: { ...process.env, ...TAP },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
    killSignal: 'SIGKILL',
  })
  const printed: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => printed.push(part))
  child.stderr.on('data', (part: Buffer) => printed.push(part))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  const end = signal === null ? '' : `# ended by ${signal}\n`
  return { code: code ?? 1, output: Buffer.concat(printed).toString() + end }
}

/** One after the other: they are to take no more of the machine than the suites leave. */
async function runChecks(): Promise<readonly string[]> {
  const failures: string[] = []
  for (const [program, ...flags] of CHECKS) {
    const { code, output } = await run(join(ROOT, 'node_modules/.bin', program), flags)
    if (code !== 0) failures.push(`not ok - ${[program, ...flags].join(' ')}\n${output}`)
  }
  return failures
}

/** What a suite counted, in its last lines: `# { total: 3, pass: 2, fail: 1 }`. */
function countedIn(output: string): { readonly total: number; readonly pass: number } {
  const counts = /^# (\{ total: .*\})$/m.exec(output)?.[1] ?? ''
  const numberOf = (name: string): number =>
    Number(new RegExp(`\\b${name}: (\\d+)`).exec(counts)?.[1] ?? 0)
  return { total: numberOf('total'), pass: numberOf('pass') }
}

const indented = (text: string): string => text.replace(/^(?=.)/gm, '    ')

/** What a suite that passed says beside its results, such as what of it was not run. */
function remarksOf(output: string): string {
  const remarks = [...output.matchAll(/^ *# (?!Subtest|time=|\{ total)(.+)$/gm)]
  return remarks.map(([, remark]) => `    # ${remark}\n`).join('')
}

/** Prints all that a failed suite said; resolves with whether all of them passed. */
async function runSuites(files: readonly string[]): Promise<boolean> {
  const queue = [...files]
  const failed: string[] = []
  const sum = { total: 0, pass: 0 }
  let ended = 0

  async function work(): Promise<void> {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const begun = performance.now()
      const { code, output } = await run(process.execPath, [file], LONGEST)
      const { total, pass } = countedIn(output)
      const isWell = code === 0 && total > 0
      if (!isWell) failed.push(file)
      sum.pass += pass
      // One that ended before it counted has failed all the same.
      sum.total += Math.max(total, pass + (isWell ? 0 : 1))
      const took = `time=${Math.round(performance.now() - begun)}ms`
      process.stdout.write(isWell ? remarksOf(output) : indented(`${output}\n`))
      process.stdout.write(`${isWell ? 'ok' : 'not ok'} ${(ended += 1)} - ${file} # ${took}\n`)
    }
  }

  await Promise.all(Array.from({ length: JOBS }, work))
  process.stdout.write(`1..${files.length}\n`)
  for (const file of failed) process.stdout.write(`# failed: ${file}\n`)
  const { total, pass } = sum
  const fail = total > pass ? `, fail: ${total - pass}` : ''
  process.stdout.write(`# { total: ${total}, pass: ${pass}${fail} }\n`)
  return files.length > 0 && failed.length === 0
}

const folders = process.argv.slice(2)
const [isWell, failures] = await Promise.all([
  runSuites(suites(folders)),
  folders.length === 0 ? runChecks() : [],
])
for (const failure of failures) process.stderr.write(failure)
process.exitCode = isWell && failures.length === 0 ? 0 : 1
