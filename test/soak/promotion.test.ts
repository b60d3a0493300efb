/**
 * What requests allocate is garbage once they are answered. Where anything keeps them a little longer, V8 moves them to its
 * old generation, each request costs twice as much, and nothing else shows it: so this counts bytes, not time.
 */
import t from 'tap'
import { Pool } from 'undici'
import type { DaemonProcess } from '../support/daemon.ts'
import { startDaemonProcess } from '../support/daemon.ts'
import { mcpMessage } from '../bench/mcp-message.ts'

const TOKEN = 'operator-token-of-a-promotion-test'
const CONNECTIONS = 64
const WARM_UP = 3000
const REQUESTS = 8000
/** Maximum kilobytes of a request that are moved; one that was kept whole had 8 to 13. */
const MOST = 3

/** Megabytes that minor collections moved to the old generation, from the lines of `--trace-gc`. */
function promoted(lines: readonly string[]): number {
  let moved = 0
  let before: number | undefined
  for (const line of lines) {
    const after = /(?:Scavenge|Mark-Compact) .*-> ([\d.]+) \(/.exec(line)?.[1]
    if (after === undefined) continue
    if (before !== undefined && line.includes('Scavenge')) moved += Math.max(0, +after - before)
    before = Number(after)
  }
  return moved
}

const tool = mcpMessage('tools/call', { name: 'keys_self', arguments: {} })
const json = { 'content-type': 'application/json' }

const READS = {
  REST: { method: 'GET', path: '/v1/keys/self' },
  MCP: {
    method: 'POST',
    path: '/mcp?toolsets=keys',
    body: tool.body,
    headers: { ...json, ...tool.headers },
  },
} as const

async function mintKey({ url }: DaemonProcess): Promise<string> {
  const headers = { authorization: `Bearer ${TOKEN}`, ...json }
  const post = async <Body>(path: string, body: object, more: object = {}): Promise<Body> => {
    const init = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) }
    return (await (await fetch(url + path, init)).json()) as Body
  }
  const { id } = await post<{ id: string }>('/v1/accounts', { name: 'Promotion' })
  const wanted = { name: 'promotion', scopes: ['keys:read'] }
  return (await post<{ key: string }>('/v1/keys', wanted, { 'keyhook-account': id })).key
}

for (const [name, read] of Object.entries(READS)) {
  await t.test(`${name}: what a read allocates is garbage once it is answered`, async (t) => {
    const env = {
      KEYHOOK_DATA_DIR: t.testdir(),
      KEYHOOK_OPERATOR_TOKEN: TOKEN,
      KEYHOOK_RATE_READS: '0',
    }
    const daemon = await startDaemonProcess(env, undefined, { flags: ['--trace-gc'] })
    const pool = new Pool(daemon.url, { connections: CONNECTIONS })
    t.teardown(async () => {
      await pool.destroy()
      await daemon.end('SIGKILL')
    })
    const authorization = `Bearer ${await mintKey(daemon)}`
    const headers = { authorization, ...('headers' in read ? read.headers : {}) }
    const send = async (count: number): Promise<void> => {
      let left = count
      const worker = async (): Promise<void> => {
        while (left-- > 0) {
          const { statusCode, body } = await pool.request({ ...read, headers })
          const text = await body.text()
          if (statusCode !== 200 || !text.includes('promotion')) throw new Error(text)
        }
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, worker))
    }
    await send(WARM_UP)
    const from = daemon.output().split('\n').length
    await send(REQUESTS)
    const lines = daemon.output().split('\n').slice(from)
    const kilobytes = (promoted(lines) * 1000) / REQUESTS
    t.comment(`${kilobytes.toFixed(2)} KB of each request`)
    t.ok(lines.filter((line) => line.includes('Scavenge')).length > 5, 'it was watched')
    t.ok(kilobytes < MOST, `${kilobytes} KB of each request were moved`)
  })
}
