import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

const FIRST = 20_000
/** Where Linux begins to give ports to connections, and to listeners that name none. */
const END = 32_768
const MAX_TRIES = 100

/**
 * A port that nothing listens on, below those that the system gives away: no connection takes it while a process
 * that listened on it is started again.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(FIRST, END)
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${FIRST} to ${END} is free`)
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
