/**
 * `npm test`, once everything is compiled: all suites, one process more at a time than there are cores since many
 * wait for a process that they started, and beside them the checks of the source. Given folders of test/, only the
 * suites in them, and no checks. A file that needs PostgreSQL starts a server of its own: the feed waits for every
 * transaction of its server, those of other files included.
 *
 * Twenty suites share a process where they can: to load the modules of a daemon takes a second, which is a third of
 * what most of them take. `node dist/test/daemon/keys.test.js` runs one of them alone.
 *
 * A process is run as `node` runs it. tap's own runner loads hooks into it and into every process that it starts,
 * daemons included, which look at each module: up to a third of the time went there.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join, sep } from 'node:path'
import type { Millis } from '../lib/time.ts'
import { MINUTE } from '../lib/time.ts'
import { ROOT } from './arch/source.ts'
import { makeMigrated } from './support/migrated.ts'
import { packInto } from './support/packed.ts'
import { preparePostgres } from './support/postgres.ts'
import { IS_SOAK } from './support/soak.ts'

const JOBS = availableParallelism() + 1

/** Suites and folders that take longest begin first: at the end no job waits for the other. */
const FIRST = [
  'soak/receivers',
  'soak/walk',
  'soak/limits',
  'soak/fuzz',
  'soak/billing-crash',
  'soak',
  'e2e',
  'adversarial',
  'platform',
  'plugins',
]

/** Of the suites in soak/, those whose short form runs with all others; `npm run test:soak` runs the long form of each. */
const SHORT_FORMS = ['crash', 'cycles', 'deploy-crash', 'fleet', 'simulation', 'work-crash']

const SHARE_PROCESS = 20

/** Folders whose suites do not share a process: they take minutes, or mount the daemon in a way of their own. */
const ALONE = ['e2e', 'mounted', 'soak']

/** What a suite does with its process that others in it would notice. */
const OWNS_PROCESS = /^t\.(?:before|jobs|setTimeout)|process\.memoryUsage|syncBuiltinESMExports/m

/** Seconds after which a suite ends that says nothing else: only one that hangs takes that long. */
const TIMEOUT = IS_SOAK ? '900' : '600'

/** One that skips anything fails. */
const TAP = { TAP_TIMEOUT: TIMEOUT, TAP_FAIL_SKIP: '1' }

/** Beyond what any suite takes for itself: it cannot end itself while it never yields. */
const LONGEST: Millis = 25 * MINUTE

const CHECKS: readonly (readonly [program: string, ...flags: string[]])[] = [
  ['oxfmt', '--check'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['knip'],
]

/** What each suite imports first. */
const PRELOADED = ['--import', './dist/test/support/without-domains.js']

/** Suites that are run in one process. */
type Group = readonly string[]

interface Ended {
  readonly code: number
  readonly output: string
}

function suites(folders: readonly string[]): readonly string[] {
  const rankOf = (file: string): number => {
    const rank = FIRST.findIndex((one) => file.startsWith(join(one)))
    return rank === -1 ? FIRST.length : rank
  }
  return readdirSync(join(ROOT, 'dist/test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js'))
    .filter((file) =>
      folders.length === 0
        ? !file.startsWith(`soak${sep}`) || SHORT_FORMS.includes(basename(file, '.test.js'))
        : folders.some((one) => file.startsWith(one + sep)),
    )
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
    .map((file) => join('dist/test', file))
}

const folderOf = (file: string): string => file.split('/')[2] ?? ''

function groupsOf(files: readonly string[]): readonly Group[] {
  const groups: string[][] = []
  const lastOf = new Map<string, string[]>()
  for (const file of files) {
    const folder = folderOf(file)
    const isAlone =
      ALONE.includes(folder) || OWNS_PROCESS.test(readFileSync(join(ROOT, file), 'utf8'))
    const last = isAlone ? undefined : lastOf.get(folder)
    if (last !== undefined && last.length < SHARE_PROCESS) {
      last.push(file)
    } else {
      const group = [file]
      groups.push(group)
      if (!isAlone) lastOf.set(folder, group)
    }
  }
  return groups
}

/** Runs a program; `env` adds to this process's. */
async function run(
  program: string,
  flags: readonly string[],
  { timeout, env = {} }: { timeout?: Millis; env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const child = spawn(program, flags, {
    cwd: ROOT,
    env: { ...process.env, ...TAP, ...env },
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

/** Of several suites in one process, what those said that failed, and the one in which it ended. */
function failuresOf(output: string): string {
  const parts = output.split(/(?<=^# dist\/\S+ time=\d+ms\n)/m)
  return parts
    .filter((part, index) => index === parts.length - 1 || /^ *not ok/m.test(part))
    .join('')
}

function runGroup(name: string, files: Group): Promise<Ended> {
  const [entry, env] =
    files.length === 1
      ? [[name], {}]
      : [['dist/test/together.js', name], { SUITES: files.join(' ') }]
  return run(process.execPath, [...PRELOADED, ...entry], { timeout: LONGEST, env })
}

/** Prints all that a failed suite said; resolves with whether all of them passed. */
async function runSuites(files: readonly string[]): Promise<boolean> {
  const groups = groupsOf(files)
  const queue = groups.map((group, index) => {
    const [file = ''] = group
    return { name: group.length === 1 ? file : `${folderOf(file)}-${index + 1}`, group }
  })
  const failed: string[] = []
  const sum = { total: 0, pass: 0 }
  let ended = 0

  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { name, group } = next
      const begun = performance.now()
      const { code, output } = await runGroup(name, group)
      const { total, pass } = countedIn(output)
      const isWell = code === 0 && total > 0
      if (!isWell) failed.push(name)
      sum.pass += pass
      // One that ended before it counted has failed all the same.
      sum.total += Math.max(total, pass + (isWell ? 0 : 1))
      const took = `time=${Math.round(performance.now() - begun)}ms`
      process.stdout.write(isWell ? remarksOf(output) : indented(`${failuresOf(output)}\n`))
      process.stdout.write(`${isWell ? 'ok' : 'not ok'} ${(ended += 1)} - ${name} # ${took}\n`)
    }
  }

  await Promise.all(Array.from({ length: JOBS }, work))
  process.stdout.write(`1..${groups.length}\n`)
  for (const name of failed) process.stdout.write(`# failed: ${name}\n`)
  const { total, pass } = sum
  const fail = total > pass ? `, fail: ${total - pass}` : ''
  process.stdout.write(`# { total: ${total}, pass: ${pass}${fail} }\n`)
  return files.length > 0 && failed.length === 0
}

const folders = process.argv.slice(2)
const home = await mkdtemp(join(tmpdir(), 'keyhook-suites-'))
// A fifth of the soak installs the package: it is packed once.
if (folders.includes('soak')) process.env['KEYHOOK_TEST_PACKAGE'] = await packInto(home)
process.env['KEYHOOK_TEST_MIGRATED'] = await makeMigrated(join(home, 'keyhook.sqlite'))
const template = await preparePostgres()
if (template !== undefined) process.env['KEYHOOK_TEST_POSTGRES_TEMPLATE'] = template.folder
const [isWell, failures] = await Promise.all([
  runSuites(suites(folders)),
  folders.length === 0 ? runChecks() : [],
])
await template?.remove()
await rm(home, { recursive: true, force: true })
for (const failure of failures) process.stderr.write(failure)
process.exitCode = isWell && failures.length === 0 ? 0 : 1
