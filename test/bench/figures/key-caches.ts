import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { blocksOf } from '../../support/page.ts'
import type { Figure, Values } from '../figure.ts'
import type { Round } from '../round.ts'

const run = promisify(execFile)

const TOKEN = 'operator-token-of-the-bench-0123456789'

/** Verifies one key for some seconds under a lease, and for as long with a request for each; prints both rates. */
const PYTHON = `
import json, sys, time
from key_cache import KeyCache

url, token, key, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
cache = KeyCache(url, token)

def rate(verify):
    count, began = 0, time.monotonic()
    while time.monotonic() - began < seconds:
        assert verify()["valid"]
        count += 1
    return count / (time.monotonic() - began)

time.sleep(0.5)
cache.verify(key)
print(json.dumps({
    "leased": rate(lambda: cache.verify(key)),
    "asked": rate(lambda: cache._post("/v1/keys/verify", {"key": key})),
}))
`

const GO = `package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func rate(seconds float64, verify func() (Verdict, error)) float64 {
	count, began := 0, time.Now()
	for time.Since(began).Seconds() < seconds {
		if verdict, err := verify(); err != nil || !verdict.Valid {
			panic(fmt.Sprint("not valid: ", err))
		}
		count++
	}
	return float64(count) / time.Since(began).Seconds()
}

func main() {
	cache := NewKeyCache(os.Args[1], os.Args[2])
	key := os.Args[3]
	seconds, _ := strconv.ParseFloat(os.Args[4], 64)
	time.Sleep(500 * time.Millisecond)
	leased := rate(seconds, func() (Verdict, error) { return cache.Verify(key, "") })
	asked := rate(seconds, func() (verdict Verdict, err error) {
		err = cache.post("/v1/keys/verify", map[string]any{"key": key}, &verdict)
		return
	})
	fmt.Printf("{\\"leased\\": %f, \\"asked\\": %f}", leased, asked)
}
`

interface Client {
  readonly files: Readonly<Record<string, string>>
  readonly build?: readonly [string, ...string[]]
  readonly command: readonly [string, ...string[]]
}

const blocks = blocksOf('key-caches.md')
const codeOf = (kind: string): string => {
  const block = blocks.find((one) => one.kind === kind)
  if (block === undefined) throw new Error(`docs/key-caches.md has no ${kind}`)
  return block.text
}

const CLIENTS = {
  Python: {
    files: { 'key_cache.py': codeOf('python key_cache.py'), 'rates.py': PYTHON },
    command: ['python3', 'rates.py'],
  },
  Go: {
    files: {
      'go.mod': 'module keycache\n\ngo 1.21\n',
      'key_cache.go': codeOf('go key_cache.go'),
      'main.go': GO,
    },
    build: ['go', 'build', '-o', 'rates', '.'],
    command: ['./rates'],
  },
} as const satisfies Readonly<Record<string, Client>>

interface Rates {
  readonly leased: number
  readonly asked: number
}

async function measure(round: Round, { files, build, command }: Client): Promise<Values> {
  const place = await round.place('sqlite')
  const daemon = await round.daemon({
    env: {
      ...place.env,
      KEYHOOK_OPERATOR_TOKEN: TOKEN,
      KEYHOOK_RATE_READS: '1000000',
    },
    dispatch: false,
  })
  const { key } = await daemon.child.call<{ key: string }>('make', [])
  const folder = join(place.folder, 'client')
  await mkdir(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  if (build !== undefined) await run(build[0], build.slice(1), { cwd: folder })
  const [program, ...args] = command
  const given = [daemon.origin, TOKEN, key, String(round.seconds)]
  const { stdout } = await run(program, [...args, ...given], { cwd: folder })
  const { leased, asked } = JSON.parse(stdout) as Rates
  return { ratio: leased / asked, 'verified/s': leased, 'asked/s': asked }
}

/** What needs a toolchain of another language prints that it is missing, where it is. */
export const keyCaches: readonly Figure[] = Object.entries(CLIENTS).map(([language, client]) => ({
  name: `key-cache-${language.toLowerCase()}`,
  title: `keys verified per second in ${language}, by the client of docs/key-caches.md, one thread`,
  baseline: 'the same client with a request for each',
  goals: [{ value: 'ratio', at_least: 50 }],
  takes: 9,
  measure: (round) => measure(round, client),
}))
