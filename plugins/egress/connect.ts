import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type buildConnector, errors } from 'undici'
import { inCidr, parseCidr } from '../../lib/egress/address.ts'
import type { Millis } from '../../lib/time.ts'
import { classify, ConnectFailure } from './failures.ts'

export interface ConnectorOptions {
  /** The judged addresses, the only ones that are connected to. */
  readonly addresses: readonly string[]
  /** For the TCP connection and the TLS handshake together. */
  readonly timeout: Millis
  /** Certificate authorities in PEM instead of the bundled ones. */
  readonly ca?: string | undefined
  /** Maximum bytes of one response on the wire. Default 16 KiB. */
  readonly maxAnswerBytes?: number
  /** Whether a request waits for a connection: undici also opens one for aborted requests. */
  readonly isWanted: () => boolean
  /** All open sockets, so that the owner can destroy them. */
  readonly sockets: Set<Socket>
}

/** Long enough for a distant address, short enough to leave a dead one for the next. */
const NEXT_ADDRESS_AFTER: Millis = 500

/**
 * Creates an undici connector that connects to the judged addresses alone. The socket's remote
 * address is compared once more before the first byte, the TLS hello included; the name stays in
 * Host, SNI and the certificate check. Errors arrive as `ConnectFailure`.
 *
 * @example
 * const connect = createConnector({
 *   addresses: ['8.8.8.8'], timeout: 10_000, isWanted: () => true, sockets: new Set(),
 * })
 * const pool = new Pool('https://hooks.example.com', { connect })
 */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const lookup = pinnedLookup(options.addresses)
  let session: Buffer | undefined

  return (target, callback) => {
    if (!options.isWanted()) {
      callback(new ConnectFailure('aborted'), null)
      return
    }
    const isSecure = target.protocol === 'https:'
    const socket = connectTcp({
      host: target.hostname,
      port: Number(target.port) || (isSecure ? 443 : 80),
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER,
      noDelay: true,
      keepAlive: true,
    })
    track(socket, options.sockets)
    const attempt = new Attempt(socket, callback)
    const timer = setTimeout(
      () => attempt.fail(new ConnectFailure('timeout', { known: 'connect_timeout' })),
      options.timeout,
    )
    socket.once('close', () => {
      clearTimeout(timer)
      attempt.fail(new ConnectFailure('reset'))
    })
    socket.on('error', (error) => attempt.fail(error))
    socket.once('connect', () => {
      // A literal host never passes through lookup, so this is its check.
      if (socket.remoteAddress === undefined) {
        attempt.fail(new ConnectFailure('reset'))
      } else if (!isPinned(options.addresses, socket.remoteAddress)) {
        attempt.fail(new ConnectFailure('refused_address', { reason: 'address_unpinned' }))
      } else if (isSecure) {
        handshake()
      } else {
        finish(socket)
      }
    })

    function handshake(): void {
      const servername = isIP(target.hostname) === 0 ? { servername: target.hostname } : {}
      const secure = connectTls({
        socket,
        host: target.hostname,
        ...servername,
        session,
        ca: options.ca,
        ALPNProtocols: ['http/1.1'],
        // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
        rejectUnauthorized: true,
      })
      secure.on('session', (fresh) => (session = fresh))
      secure.on('error', (error) => attempt.fail(error))
      secure.once('secureConnect', () => finish(secure))
    }

    function finish(connected: Socket): void {
      clearTimeout(timer)
      limitAnswers(connected, options.maxAnswerBytes ?? MAX_ANSWER_BYTES)
      attempt.succeed(connected)
    }
  }
}

/** Tells undici the outcome of one connection exactly once. */
class Attempt {
  readonly #socket: Socket
  #callback: buildConnector.Callback | undefined

  constructor(socket: Socket, callback: buildConnector.Callback) {
    this.#socket = socket
    this.#callback = callback
  }

  succeed(connected: Socket): void {
    this.#take()?.(null, connected)
  }

  /**
   * Undici never sees the original error: it treats some codes, such as a wrong certificate name,
   * as a reason to keep requests waiting.
   */
  fail(error: Error): void {
    const callback = this.#take()
    if (!callback) return
    this.#socket.destroy()
    const failure = error instanceof ConnectFailure ? error : undefined
    callback(failure ?? new ConnectFailure(classify(error), { cause: error }), null)
  }

  #take(): buildConnector.Callback | undefined {
    const callback = this.#callback
    this.#callback = undefined
    return callback
  }
}

function track(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

function isPinned(addresses: readonly string[], remote: string): boolean {
  return addresses.some((address) => {
    const pin = parseCidr(address)
    return pin !== undefined && inCidr(pin, remote)
  })
}

function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    const first = answers[0]
    if (options.all === true || !first) callback(null, answers)
    else callback(null, first.address, first.family)
  }
}

/** Default maximum of one response on the wire, with 1xx responses and framing. */
export const MAX_ANSWER_BYTES = 16_384

/**
 * Ends a connection on which more comes after a request than an answer may bring. Undici counts the
 * names and values of headers, and we the body: a reason phrase, blank lines before the status or a
 * chunk's extension would go on without end at the speed of the network, and thousands of empty headers
 * weigh a hundred times what they count.
 *
 * Bytes within the limit still go to the parser, so that a status line among them counts.
 */
export function limitAnswers(socket: Socket, limit: number): void {
  let written = 0
  let read = 0
  let readBefore = 0

  function count(): void {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten
      readBefore = read
    }
    read = socket.bytesRead
    const excess = read - readBefore - limit
    if (excess > 0) cut(excess)
  }

  /** The parser listens after this, and reads the rest. */
  function cut(excess: number): void {
    socket.off('readable', count)
    const bytes = socket.read() as Buffer | null
    const kept = bytes?.subarray(0, Math.max(0, bytes.length - excess))
    if (kept !== undefined && kept.length > 0) socket.unshift(kept)
    process.nextTick(end)
  }

  /** Undici's message for an unusable response: other errors would also fail waiting requests. */
  function end(): void {
    socket.destroy(new errors.SocketError('bad response'))
  }

  socket.on('readable', count)
}
