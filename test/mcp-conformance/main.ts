import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../daemon/config/config.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import { askControl } from '../support/control.ts'
import { COMMAND, SUITE, installSuite } from './environment.ts'
import { EXCLUSIONS } from './exclusions.ts'
import { TOOLSET, fixtureFamily } from './fixtures.ts'
import type { Proxy } from './proxy.ts'
import { startProxy } from './proxy.ts'
import type { Found } from './verdict.ts'
import { judge, readFound } from './verdict.ts'
import { freePort } from '../support/free-port.ts'

/**
 * Runs the conformance suite of the Model Context Protocol against a daemon, as `npm run conformance` does:
 * every scenario that a revision requires of servers, at its own wire.
 *
 * @module
 */
const REVISIONS = ['2026-07-28', '2025-11-25']
const LONGEST: Millis = 10 * MINUTE
/** The key loses one of them whenever its tools shall change. */
const SPARE = ['webhooks:read', 'files:read', 'deploy:read', 'observe:read', 'edits:read']
const SCOPES = ['apps:*', 'discovery:read', 'keys:read']

function print(text: string): void {
  process.stdout.write(`conformance: ${text}\n`)
}

/** A daemon with the tools that the suite names, behind the proxy. */
async function startServed(folder: string, proxy: Proxy): Promise<Daemon> {
  const port = await freePort()
  const env = {
    KEYHOOK_PORT: String(port),
    KEYHOOK_APPS: 'off',
    KEYHOOK_BASE_URL: `http://localhost:${proxy.port}`,
    KEYHOOK_DATA_DIR: folder,
    KEYHOOK_OWNER_EMAIL: 'owner@example.com',
    KEYHOOK_OWNER_PASSWORD: 'not-a-secret-of-anyone',
    KEYHOOK_RATE_READS: '0',
    KEYHOOK_RATE_WRITES: '0',
  }
  const ask = askControl(folder)
  const spare = [...SPARE]
  let id = ''
  const narrow = async (): Promise<void> => {
    spare.pop()
    await ask('PATCH', `/v1/keys/${id}`, { scopes: [...SCOPES, ...spare] })
  }
  const families = [...FAMILIES, fixtureFamily(narrow)]
  const daemon = await startDaemon(readConfig(env, 'dev'), createLog('error'), { families })
  const made = await ask('POST', '/v1/keys', { name: 'suite', scopes: [...SCOPES, ...spare] })
  id = String(made['id'])
  proxy.serve(port, String(made['key']))
  return daemon
}

interface Ran {
  readonly found: readonly Found[]
  /** What the suite printed. */
  readonly output: string
}

async function runSuite(root: string, { port }: Proxy, revision: string): Promise<Ran> {
  const folder = join(root, revision)
  await mkdir(folder)
  const file = join(folder, 'output')
  const printed = await open(file, 'w')
  const shim = new URL('older-node.js', import.meta.url).href
  const url = `http://localhost:${port}/mcp?toolsets=default,${TOOLSET}`
  const given = ['server', '--url', url, '--requirements', revision]
  const child = spawn(
    process.execPath,
    ['--import', shim, COMMAND, ...given, '--output-dir', join(folder, 'results')],
    { cwd: folder, timeout: LONGEST, stdio: ['ignore', printed.fd, printed.fd] },
  )
  await once(child, 'exit')
  await printed.close()
  const found = await readFound(revision, join(folder, 'results')).catch(() => [])
  return { found, output: await readFile(file, 'utf8') }
}

async function runAll(folder: string, proxy: Proxy): Promise<readonly Ran[]> {
  const daemon = await startServed(join(folder, 'data'), proxy)
  try {
    const ran: Ran[] = []
    for (const revision of REVISIONS) ran.push(await runSuite(folder, proxy, revision))
    return ran
  } finally {
    await daemon.stop()
  }
}

async function main(): Promise<number> {
  const missing = await installSuite()
  if (missing !== undefined) {
    const isCi = process.env['CI'] === 'true'
    print(`NOT RUN, nothing was checked: ${missing}`)
    print(isCi ? 'with CI=true that is a failure' : 'this exits 0; with CI=true it is a failure')
    return isCi ? 1 : 0
  }
  print(`${SUITE}, what ${REVISIONS.join(' and ')} require of servers`)
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-conformance-'))
  const proxy = await startProxy()
  try {
    const ran = await runAll(folder, proxy)
    const { passed, excluded, checks, faults } = judge(
      ran.flatMap(({ found }) => found),
      EXCLUSIONS,
    )
    const isRun = ran.every(({ found }) => found.length > 0)
    if (faults.length > 0 || !isRun) for (const { output } of ran) process.stdout.write(output)
    for (const { scenarios, checks: named = [], reason } of EXCLUSIONS)
      print(`excluded: ${[...scenarios, ...named].join(', ')}: ${reason}`)
    for (const fault of faults) print(`FAULT ${fault}`)
    const isGreen = isRun && faults.length === 0
    const counts = [
      `${passed.length} scenarios passed and ${excluded.length} apply in part or not`,
      `${checks.passed} checks passed, ${checks.excluded} excluded`,
    ].join('; ')
    print(`${counts}: ${isGreen ? 'no fault' : `FAILED, ${faults.length} faults`}`)
    return isGreen ? 0 : 1
  } finally {
    proxy.close()
    await rm(folder, { recursive: true, force: true })
  }
}

process.exitCode = await main()
