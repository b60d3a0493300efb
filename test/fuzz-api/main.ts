import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { STATE_ONLY, operationsOf } from '../../daemon/docs/state-only.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import type { Daemon } from './daemon.ts'
import { OPERATOR_TOKEN, startDaemon } from './daemon.ts'
import { COMMAND, FUZZER, installFuzzer } from './environment.ts'
import type { Tally } from './report.ts'
import { LEFT_OUT, recursedIn, reportOf } from './report.ts'

/**
 * Runs schemathesis over every operation of a daemon of its own, as `npm run fuzz:api` does.
 *
 * `FUZZ_EXAMPLES` is the number of requests for each operation, the simplest and random ones, beside those that the
 * schema determines; `FUZZ_SEED` seeds their generated values, while ids of records, keys and instants differ in
 * each run; `FUZZ_DATABASE_URL` names an empty PostgreSQL database to use.
 *
 * @module
 */
const EXAMPLES = process.env['FUZZ_EXAMPLES'] ?? '5'
const SEED = process.env['FUZZ_SEED'] ?? '1'
/** For twenty examples, with room for a busy machine. */
const LONGEST_OF_TWENTY: Millis = 30 * MINUTE
const LONGEST: Millis = (LONGEST_OF_TWENTY * Math.max(20, Number(EXAMPLES))) / 20

/** hooks.py has these with what only the state can decide. */
const WRAPPED = ['not_a_server_error', 'positive_data_acceptance', 'negative_data_rejection']

function print(text: string): void {
  process.stdout.write(`fuzz:api: ${text}\n`)
}

/** The ids of the operations that the daemon describes. */
async function describedOperations(address: string): Promise<readonly string[]> {
  const response = await fetch(`${address}/v1/openapi.json`)
  const { paths } = (await response.json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>
  }
  return Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
}

/** @returns the exit code of the fuzzer; null when it was ended */
async function runFuzzer(folder: string, daemon: Daemon): Promise<number | null> {
  const all = FAMILIES.flatMap(({ operations }) => operations)
  const rows = STATE_ONLY.map((row) => ({ ...row, operations: operationsOf(row, all) }))
  await writeFile(join(folder, 'state-only.json'), JSON.stringify(rows))
  const given = [
    ['--max-examples', EXAMPLES],
    ['--seed', SEED],
    ['--phases', 'examples,coverage,fuzzing'],
    ['--exclude-checks', [...WRAPPED, ...Object.keys(LEFT_OUT)].join(',')],
    // With more, the order of requests, and with it the state that each one meets, depends on timing.
    ['--workers', '1'],
    ['--request-timeout', '40'],
    ['--warnings', 'off'],
    // It judges the generator, which drops most JSON objects that it makes for a batch of events.
    ['--suppress-health-check', 'filter_too_much'],
    ['--output-sanitize', 'false'],
    ['--output-truncate', 'false'],
  ].flat()
  const output = await open(join(folder, 'output'), 'w')
  const child = spawn(
    COMMAND,
    ['run', `${daemon.address}/v1/openapi.json`, '--continue-on-failure', '--no-shrink', ...given],
    {
      cwd: folder,
      timeout: LONGEST,
      stdio: ['ignore', output.fd, output.fd],
      env: {
        PATH: process.env['PATH'],
        NO_COLOR: '1',
        SCHEMATHESIS_HOOKS: 'hooks',
        PYTHONPATH: resolve('test/fuzz-api'),
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONHASHSEED: '0',
        FUZZ_ADDRESS: daemon.address,
        FUZZ_OPERATOR_TOKEN: OPERATOR_TOKEN,
        FUZZ_RECEIVER: daemon.receiver,
        FUZZ_STATE_ONLY: join(folder, 'state-only.json'),
        FUZZ_TALLY: join(folder, 'tally.json'),
      },
    },
  )
  const [code] = (await once(child, 'exit')) as [number | null]
  await output.close()
  return code
}

async function main(): Promise<number> {
  const missing = await installFuzzer()
  if (missing !== undefined) {
    const isCi = process.env['CI'] === 'true'
    print(`NOT RUN, nothing was checked: ${missing}`)
    print(isCi ? 'with CI=true that is a failure' : 'this exits 0; with CI=true it is a failure')
    return isCi ? 1 : 0
  }
  print(`${FUZZER}, ${EXAMPLES} examples for each operation, seed ${SEED}`)
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-fuzz-'))
  const daemon = await startDaemon(folder)
  try {
    const operations = await describedOperations(daemon.address)
    const code = await runFuzzer(folder, daemon)
    const output = await readFile(join(folder, 'output'), 'utf8')
    const recursed = code === 0 ? undefined : recursedIn(output)
    for (const one of recursed ?? []) print(`no random requests, the generator recursed: ${one}`)
    if (code === null) {
      process.stdout.write(output)
      print(`ended after ${LONGEST / MINUTE} minutes`)
      return 1
    }
    const tally = JSON.parse(await readFile(join(folder, 'tally.json'), 'utf8')) as Tally
    const { lines, untested } = reportOf(tally, operations)
    const isGreen = (code === 0 || recursed !== undefined) && untested.length === 0
    if (untested.length > 0) print(`never requested: ${untested.join(', ')}`)
    for (const line of lines.slice(0, -1)) print(line)
    // Last, where whoever keeps the end of a log alone finds it.
    if (code !== 0 && recursed === undefined) process.stdout.write(output)
    print(`${lines.at(-1)}: ${isGreen ? 'no disagreement' : 'FAILED, see above'}`)
    return isGreen ? 0 : 1
  } finally {
    await daemon.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
