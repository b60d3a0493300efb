import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const FIRST = 20_000
/** Where Linux begins to give ports to connections, and to listeners that name none. */
const END = 32_768
const MAX_TRIES = 100

/** A file for each port that a process has, named after it: other processes draw no such port. */
const TAKEN = join(tmpdir(), 'keyhook-test-ports')
const own = new Set<string>()

/**
 * A port that nothing listens on, below those that the system gives away: no connection takes it while a process
 * that listened on it is started again, and no other process of the tests until this one ends.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(FIRST, END)
    if (take(port) && (await isFree(port))) return port
  }
  throw new Error(`no port from ${FIRST} to ${END} is free`)
}

function take(port: number): boolean {
  mkdirSync(TAKEN, { recursive: true })
  const file = join(TAKEN, String(port))
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    if (!isHeld(file)) rmSync(file, { force: true })
    return false
  }
  if (own.size === 0) process.once('exit', giveBack)
  own.add(file)
  return true
}

function giveBack(): void {
  for (const file of own) rmSync(file, { force: true })
}

/** Whether the process that took it still runs: one that was killed gave nothing back. */
function isHeld(file: string): boolean {
  try {
    return process.kill(Number(readFileSync(file, 'utf8')), 0)
  } catch {
    return false
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw cause
  }
  server.close()
  await once(server, 'close')
  return true
}
