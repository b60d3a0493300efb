/** The clients of docs/key-caches.md over a network that cuts, delays and repeats, stopped and continued at random. */
import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { percentilesOf } from '../bench/percentiles.ts'
import type { ChaosProxy } from '../support/chaos-proxy.ts'
import { startChaosProxy } from '../support/chaos-proxy.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { blocksOf } from '../support/page.ts'
import { startPostgres } from '../support/postgres.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { chooseSeed, createSeededRandom } from '../support/seeded-random.ts'
import { sized } from '../support/soak.ts'

t.setTimeout(sized(10, 15, 120) * MINUTE)

/** Of each client on each database: in the long form 10,000 of a client. */
const REVOCATIONS = sized(60, 80, 5000)
/** Keys that are verified and revoked at a time: most of the time a lease is waited for. */
const AT_ONCE = 20
/** Something happens to one of so many connections, and one of so many revocations finds the client stopped. */
const CHAOS = 6
const STOPPED = 2 * AT_ONCE
const TOKEN = 'operator-token-of-the-soak-of-key-caches'

const blocks = blocksOf('key-caches.md')
const codeOf = (kind: string): string => blocks.find((one) => one.kind === kind)?.text ?? ''

/** Reads `number key` from each line, and prints `number` with the verdict. */
const DRIVE_PYTHON = `
import sys, threading
from key_cache import KeyCache

cache = KeyCache(sys.argv[1], sys.argv[2])

def verify(number, key):
    try:
        verdict = "valid" if cache.verify(key)["valid"] else "invalid"
    except (OSError, ValueError):
        verdict = "unknown"
    # One write: lines of several threads must not mix.
    sys.stdout.write(f"{number} {verdict}\\n")
    sys.stdout.flush()

for line in sys.stdin:
    threading.Thread(target=verify, args=line.split(), daemon=True).start()
`
const DRIVE_GO = `package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

func main() {
	cache := NewKeyCache(os.Args[1], os.Args[2])
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		number, key, _ := strings.Cut(lines.Text(), " ")
		go func() {
			verdict, err := cache.Verify(key, "")
			switch {
			case err != nil:
				fmt.Println(number, "unknown")
			case verdict.Valid:
				fmt.Println(number, "valid")
			default:
				fmt.Println(number, "invalid")
			}
		}()
	}
}
`

interface Client {
  readonly child: ChildProcess
  verify(key: string): Promise<string>
}

type Start = (folder: string, url: string) => Promise<ChildProcess>

const CLIENTS: Readonly<
  Record<string, { readonly tool: readonly string[]; readonly start: Start }>
> = {
  Python: {
    tool: ['python3', '--version'],
    async start(folder, url) {
      await writeFile(join(folder, 'key_cache.py'), codeOf('python key_cache.py'))
      await writeFile(join(folder, 'drive.py'), DRIVE_PYTHON)
      return spawn('python3', ['drive.py', url, TOKEN], {
        cwd: folder,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
    },
  },
  Go: {
    tool: ['go', 'version'],
    async start(folder, url) {
      await writeFile(join(folder, 'go.mod'), 'module keycache\n\ngo 1.21\n')
      await writeFile(join(folder, 'key_cache.go'), codeOf('go key_cache.go'))
      await writeFile(join(folder, 'main.go'), DRIVE_GO)
      execFileSync('go', ['vet', './...'], { cwd: folder, stdio: 'inherit' })
      execFileSync('go', ['build', '-o', 'drive', '.'], { cwd: folder, stdio: 'inherit' })
      return spawn(join(folder, 'drive'), [url, TOKEN], {
        cwd: folder,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
    },
  },
}

function talkTo(child: ChildProcess): Client {
  const waiting = new Map<string, (verdict: string) => void>()
  let count = 0
  if (child.stdout === null || child.stdin === null) throw new Error('no pipes')
  const { stdin } = child
  createInterface(child.stdout).on('line', (line) => {
    const [number = '', verdict = ''] = line.split(' ')
    waiting.get(number)?.(verdict)
    waiting.delete(number)
  })
  return {
    child,
    verify: (key) =>
      new Promise((resolve) => {
        count += 1
        waiting.set(String(count), resolve)
        stdin.write(`${count} ${key}\n`)
      }),
  }
}

/** Two daemons on one database, of which the last revokes; or one on SQLite. */
async function openDaemons(
  t: Test,
  folders: string,
  database: string | undefined,
  proxy: ChaosProxy,
): Promise<readonly string[]> {
  const start = async (folder: string, port: number, baseUrl: string): Promise<string> => {
    const daemon = await startDaemonProcess({
      KEYHOOK_DATA_DIR: folder,
      KEYHOOK_PORT: String(port),
      KEYHOOK_BASE_URL: baseUrl,
      KEYHOOK_MASTER_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
      KEYHOOK_OPERATOR_TOKEN: TOKEN,
      KEYHOOK_RATE_READS: '0',
      KEYHOOK_RATE_WRITES: '0',
      KEYHOOK_KEY_LIMIT: '1000',
      ...(database === undefined ? {} : { KEYHOOK_DATABASE_URL: database }),
    })
    t.teardown(() => daemon.end('SIGKILL').then(() => undefined))
    return `http://127.0.0.1:${port}`
  }
  // Clients reach the first one by the name of the proxy.
  const first = await start(join(folders, 'one'), proxy.port, proxy.url)
  if (database === undefined) return [first]
  const port = await freePort()
  return [first, await start(join(folders, 'two'), port, `http://127.0.0.1:${port}`)]
}

interface Outcome {
  revoked: number
  /** Verified as valid before, so that the client may have kept it. */
  kept: number
  accepted: string[]
  unknown: number
  /** Milliseconds that each revocation waited for its response. */
  waited: number[]
}

async function revokeAll(client: Client, url: string, random: SeededRandom): Promise<Outcome> {
  const operator = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const ask = async (
    method: string,
    path: string,
    body?: object,
    account = '',
  ): Promise<unknown> => {
    const response = await fetch(url + path, {
      method,
      headers: { ...operator, ...(account && { 'keyhook-account': account }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const { id: account } = (await ask('POST', '/v1/accounts', { name: 'Acme' })) as { id: string }
  const outcome: Outcome = { revoked: 0, kept: 0, accepted: [], unknown: 0, waited: [] }
  let begun = 0

  async function revokeOne(): Promise<void> {
    const body = { name: 'a key', scopes: ['*:*'] }
    const made = (await ask('POST', '/v1/keys', body, account)) as { id: string; key: string }
    for (let tries = 0; tries < 40; tries += 1) {
      if ((await client.verify(made.key)) === 'valid') {
        outcome.kept += 1
        break
      }
      await delay(25)
    }
    if (random.oneIn(STOPPED)) {
      client.child.kill('SIGSTOP')
      setTimeout(() => client.child.kill('SIGCONT'), random.below(4000))
    }
    const began = performance.now()
    await ask('DELETE', `/v1/keys/${made.id}`, undefined, account)
    outcome.waited.push(performance.now() - began)
    outcome.revoked += 1
    const after = await client.verify(made.key)
    if (after === 'valid') outcome.accepted.push(made.id)
    if (after === 'unknown') outcome.unknown += 1
  }

  async function work(): Promise<void> {
    while (begun < REVOCATIONS) {
      begun += 1
      await revokeOne()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return outcome
}

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

for (const [language, { tool, start }] of Object.entries(CLIENTS)) {
  const [program = '', ...flags] = tool
  try {
    execFileSync(program, flags, { stdio: 'ignore' })
  } catch {
    t.comment(`${program} is not installed: the client in ${language} is not run`)
    if (process.env['CI'] === 'true') t.fail(`a machine of CI has ${program}`)
    continue
  }
  for (const database of ['sqlite', 'postgres']) {
    await t.test(`${language}, ${database}: nothing is accepted after a revocation`, async (t) => {
      const seed = chooseSeed()
      t.comment(`SEED=${seed}`)
      const url = database === 'postgres' ? await postgres.createDatabase() : undefined
      const folders = t.testdir({ one: {}, two: {}, client: {} })
      const proxy = await startChaosProxy(await freePort(), seed, CHAOS)
      t.teardown(() => proxy.close())
      const daemons = await openDaemons(t, folders, url, proxy)
      const client = talkTo(await start(join(folders, 'client'), proxy.url))
      t.teardown(async () => {
        client.child.kill('SIGKILL')
        await once(client.child, 'exit').catch(() => undefined)
      })
      const outcome = await revokeAll(
        client,
        daemons.at(-1) ?? '',
        createSeededRandom(`${seed} revocations`),
      )
      t.same(outcome.accepted, [], 'nothing is accepted')
      t.equal(outcome.revoked, REVOCATIONS)
      t.ok(outcome.kept > REVOCATIONS * 0.8, `${outcome.kept} were verified before`)
      t.ok(outcome.unknown < REVOCATIONS * 0.5, `${outcome.unknown} got no answer afterwards`)
      const { cuts, delays, repeats } = proxy
      const { p50, p99 } = percentilesOf(outcome.waited.map((ms) => ms * 1000))
      const slowest = Math.max(...outcome.waited).toFixed(0)
      t.comment(`${outcome.revoked} revocations, ms: p50 ${p50}, p99 ${p99}, slowest ${slowest}`)
      t.comment(`${cuts} connections cut, ${delays} parts delayed, ${repeats} requests repeated`)
    })
  }
}
