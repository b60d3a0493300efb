import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import { STATE_ONLY } from './state-only.ts'

/**
 * Runs schemathesis over every operation of a daemon of its own, as `npm run fuzz:api` does.
 *
 * `FUZZ_EXAMPLES` and `FUZZ_SEED` choose how much, and which requests, it makes.
 *
 * @module
 */

/** From PyPI, in a virtual environment of its own. */
const FUZZER = 'schemathesis==4.32.0'
const ENVIRONMENT = resolve('node_modules/.cache/fuzz-api', FUZZER.replace('==', '-'))
const OPERATOR_TOKEN = 'operator-token-of-the-api-fuzzer-0'
/** Twenty examples of each operation take two to three minutes on two cores. */
const LONGEST: Millis = 10 * MINUTE
/** These are wrapped, in hooks.py, by checks that know what only the state can decide. */
const WRAPPED = ['not_a_server_error', 'positive_data_acceptance', 'negative_data_rejection']
/**
 * Keys that are replaced and records that are deleted by other workers are no fault of the daemon, and who
 * may call what is walked through by tests of its own.
 */
const LEFT_OUT = ['use_after_free', 'ensure_resource_availability', 'ignored_auth']

const run = promisify(execFile)

/** @returns what is missing on this machine, if anything */
async function prepareFuzzer(): Promise<string | undefined> {
  const ready = join(ENVIRONMENT, 'ready')
  if (existsSync(ready)) return undefined
  try {
    await rm(ENVIRONMENT, { recursive: true, force: true })
    await mkdir(ENVIRONMENT, { recursive: true })
    await run('python3', ['-m', 'venv', ENVIRONMENT])
    await run(join(ENVIRONMENT, 'bin/pip'), ['install', '--quiet', FUZZER])
    await writeFile(ready, '')
    return undefined
  } catch (cause) {
    return cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : String(cause)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

interface Daemon {
  readonly address: string
  stop(): Promise<void>
}

async function startDaemon(folder: string): Promise<Daemon> {
  const [port, appsPort] = [await freePort(), await freePort()]
  const address = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [resolve('dist/daemon/main.js'), 'serve'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      KEYHOOK_PORT: String(port),
      KEYHOOK_APPS_PORT: String(appsPort),
      KEYHOOK_BASE_URL: address,
      KEYHOOK_DATA_DIR: join(folder, 'data'),
      KEYHOOK_OPERATOR_TOKEN: OPERATOR_TOKEN,
      KEYHOOK_LOG_LEVEL: 'silent',
      // The fuzzer asks as fast as it can.
      KEYHOOK_RATE_READS: '0',
      KEYHOOK_RATE_WRITES: '0',
    },
  })
  const ended = once(child, 'exit')
  for (let tries = 0; ; tries += 1) {
    const ready = await fetch(`${address}/readyz`).catch(() => undefined)
    if (ready?.ok === true) break
    if (child.exitCode !== null || tries === 600) throw new Error('the daemon did not start')
    await new Promise((done) => setTimeout(done, 100))
  }
  return {
    address,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function createAccount(address: string): Promise<string> {
  const response = await fetch(`${address}/v1/accounts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'The fuzzer' }),
  })
  const { id } = (await response.json()) as { readonly id: string }
  return id
}

async function fuzz(folder: string, address: string): Promise<number> {
  const stateOnly = join(folder, 'state-only.json')
  await writeFile(stateOnly, JSON.stringify(STATE_ONLY))
  const given = [
    ['--max-examples', process.env['FUZZ_EXAMPLES'] ?? '20'],
    ['--seed', process.env['FUZZ_SEED'] ?? '1'],
    ['--phases', 'examples,coverage,fuzzing'],
    ['--exclude-checks', [...WRAPPED, ...LEFT_OUT].join(',')],
    ['--workers', '2'],
    ['--request-timeout', '40'],
    ['--warnings', 'off'],
  ].flat()
  const child = spawn(
    join(ENVIRONMENT, 'bin/st'),
    ['run', `${address}/v1/openapi.json`, '--continue-on-failure', '--no-shrink', ...given],
    {
      cwd: folder,
      timeout: LONGEST,
      stdio: 'inherit',
      env: {
        PATH: process.env['PATH'],
        SCHEMATHESIS_HOOKS: 'hooks',
        PYTHONPATH: resolve('test/fuzz-api'),
        PYTHONDONTWRITEBYTECODE: '1',
        FUZZ_ADDRESS: address,
        FUZZ_OPERATOR_TOKEN: OPERATOR_TOKEN,
        FUZZ_ACCOUNT: await createAccount(address),
        FUZZ_STATE_ONLY: stateOnly,
      },
    },
  )
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

async function main(): Promise<number> {
  const missing = await prepareFuzzer()
  if (missing !== undefined) {
    process.stdout.write(`fuzz:api: skipped, ${FUZZER} cannot be set up here: ${missing}\n`)
    return process.env['CI'] === 'true' ? 1 : 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-fuzz-'))
  const daemon = await startDaemon(folder)
  try {
    const code = await fuzz(folder, daemon.address)
    process.stdout.write(`fuzz:api: ${code === 0 ? 'no' : 'some'} disagreements\n`)
    return code
  } finally {
    await daemon.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
