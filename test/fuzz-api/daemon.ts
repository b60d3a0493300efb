import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { freePort } from '../support/free-port.ts'

export const OPERATOR_TOKEN = 'operator-token-of-the-api-fuzzer-0'

export interface Daemon {
  readonly address: string
  /** Takes every delivery. */
  readonly receiver: string
  stop(): Promise<void>
}

/** Starts the built daemon in a folder of its own, without rate limits. */
export async function startDaemon(folder: string): Promise<Daemon> {
  const receiver = createHttpServer((request, response) => {
    request.resume()
    response.writeHead(204).end()
  })
  const receiverPort = await listen(receiver)
  const [port, appsPort] = [await freePort(), await freePort()]
  const address = `http://127.0.0.1:${port}`
  // Hosts are made up for webhooks, and names for domains: nobody beyond this machine is asked or reached.
  const guard = pathToFileURL(resolve('dist/test/fuzz-api/loopback-only.js')).href
  const main = resolve('dist/daemon/main.js')
  const child = spawn(process.execPath, ['--import', guard, main, 'serve'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      KEYHOOK_PORT: String(port),
      KEYHOOK_APPS_PORT: String(appsPort),
      KEYHOOK_BASE_URL: address,
      // Beside localhost, which the default is below, no app can have a domain of its own.
      KEYHOOK_APPS_DOMAIN: 'apps.fuzz-keyhook.net',
      KEYHOOK_DATA_DIR: join(folder, 'data'),
      ...(process.env['FUZZ_DATABASE_URL'] === undefined
        ? {}
        : {
            KEYHOOK_DATABASE_URL: process.env['FUZZ_DATABASE_URL'],
            KEYHOOK_MASTER_KEY: `fuzz:${Buffer.alloc(32, 7).toString('base64')}`,
          }),
      KEYHOOK_OPERATOR_TOKEN: OPERATOR_TOKEN,
      KEYHOOK_LOG_LEVEL: 'silent',
      KEYHOOK_WEBHOOK_ALLOW: `127.0.0.1:${receiverPort}`,
      // The limits of an account follow these.
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
    receiver: `http://127.0.0.1:${receiverPort}/`,
    async stop() {
      child.kill('SIGTERM')
      await ended
      receiver.closeAllConnections()
      receiver.close()
    },
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
