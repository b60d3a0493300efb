import { chmod, unlink } from 'node:fs/promises'
import type { RequestListener, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { MINUTE, SECOND } from '../../lib/time.ts'
import { ConfigError } from '../config/config.ts'
import { mayTakeLong } from '../http/pace.ts'
import { socketPath } from './control-socket.ts'

/**
 * Timeouts in milliseconds. Clients that keep connections for 90 s (Go's default) or 60 s (most load
 * balancers) close an idle one first, so no request meets a connection that is being closed. Node announces
 * the time (`Keep-Alive: timeout=95`) and closes a second later.
 */
const LIMITS = {
  requestTimeout: 30 * SECOND,
  headersTimeout: 10 * SECOND,
  keepAliveTimeout: 95 * SECOND,
  connectionsCheckingInterval: 5 * SECOND,
}

export type ServerTimes = typeof LIMITS

/** A server with limits against slow and endless requests; it accepts once it listens. */
export function createLimitedServer(limits: Partial<ServerTimes> = {}): Server {
  const server = createServer({ ...LIMITS, ...limits, maxHeaderSize: 16_384 })
  server.maxHeadersCount = 100
  server.timeout = 2 * MINUTE
  server.on('clientError', refuse)
  return server
}

/** Short responses to malformed requests. */
const REFUSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Node's default without a listener, but for requests that may take long. */
function refuse(cause: NodeJS.ErrnoException, socket: Duplex): void {
  const code = cause.code ?? ''
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && mayTakeLong(socket)) return
  const { _httpMessage: answer } = socket as { readonly _httpMessage?: ServerResponse | null }
  if (socket.writable && answer?.headersSent !== true) {
    const status = REFUSALS[code] ?? '400 Bad Request'
    socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
  }
  socket.destroy(cause)
}

/**
 * @param setting setting of the address
 * @throws ConfigError when the address cannot be used
 */
export async function listenOn(
  server: Server,
  host: string,
  port: number,
  setting: string,
): Promise<{ readonly host: string; readonly port: number }> {
  const what = `${setting} ${host}:${port}`
  await listening(server, () => server.listen(port, host), what, reasonsFor(setting))
  const address = server.address() as AddressInfo
  return { host: address.address, port: address.port }
}

/**
 * Listens on an address for a moment.
 *
 * @throws ConfigError as `listenOn` does
 */
export async function tryListening(host: string, port: number, setting: string): Promise<void> {
  const server = createServer()
  await listenOn(server, host, port, setting)
  await closeServer(server, 0)
}

/**
 * Serves a socket in the data folder, which only its owner can reach.
 *
 * The caller holds the folder, so an existing socket belongs to a dead process.
 */
export async function listenLocally(path: string, handler: RequestListener): Promise<Server> {
  await removeSocket(path)
  const server = createServer(handler)
  const address = socketPath(path)
  await listening(server, () => server.listen(address), `control socket ${path}`)
  await chmod(path, 0o600)
  return server
}

/**
 * Removes the socket of a process that was killed. `rm` would stat it, and after the stat of a socket Node leaves
 * the symbolic links of modules unresolved (nodejs/node#51142): the next import of a linked package fails.
 */
async function removeSocket(path: string): Promise<void> {
  await unlink(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
  })
}

/** Why an address cannot be used, with the remedy, by error code of the system. */
type Reasons = Readonly<Record<string, string>>

/**
 * @param setting setting of the port; the address has one of the same name
 */
function reasonsFor(setting: string): Reasons {
  const host = setting.replace(/PORT$/, 'HOST')
  return {
    EADDRINUSE: 'is in use by another process. End that process, or set another',
    EADDRNOTAVAIL: `is not an address of this machine. Set ${host} to one that is`,
    EACCES: `may not be listened on by this user. Set ${setting} to a port of 1024 or above`,
  }
}

function listening(
  server: Server,
  listen: () => void,
  what: string,
  reasons: Reasons = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    // It stays registered: a connection that cannot be accepted must not end the process.
    server.on('error', (cause: NodeJS.ErrnoException) => {
      const reason = reasons[cause.code ?? ''] ?? `cannot be listened on: ${cause.message}`
      reject(new ConfigError(`${what} ${reason}`, { cause }))
    })
    server.once('listening', resolve)
    listen()
  })
}

/** Stops accepting, lets requests in progress finish, and cuts them after `grace`. */
export function closeServer(server: Server, grace: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.closeAllConnections()
    }, grace)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}
