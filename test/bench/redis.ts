import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UNTIL_CLOSED } from '../support/postgres.ts'
import type { Leftovers } from './leftovers.ts'
import { freePort } from '../support/free-port.ts'

/** The installed server's version; undefined where there is none on the PATH. */
export function redisVersion(): string | undefined {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return /v=(\S+)/.exec(stdout ?? '')?.[1]
}

/** Starts a Redis that syncs every write before it answers, as a durable queue needs; answers its URL. */
export async function startRedis(leftovers: Leftovers): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'keyhook-bench-redis-'))
  leftovers.add(() => rm(folder, { recursive: true, force: true }))
  const port = await freePort()
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    'maxmemory-policy': 'noeviction',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const server = spawn('/bin/sh', ['-c', UNTIL_CLOSED, 'redis-server', ...flags], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  })
  const ended = once(server, 'exit')
  leftovers.add(async () => {
    server.stdio[3]?.destroy()
    await ended
  })
  await new Promise<void>((resolve, reject) => {
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('Ready to accept connections')) resolve()
    })
    server.once('exit', (code) => {
      reject(new Error(`redis-server ended with ${String(code)}`))
    })
  })
  return `redis://127.0.0.1:${port}`
}
