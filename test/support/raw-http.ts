import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number
  /** By their names in lower case, each as often as it came. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly body: Buffer
}

/** One connection, over which anything may be sent. */
export interface RawConnection {
  send(bytes: string | Uint8Array): void
  /**
   * The next answer; undefined once the server has closed the connection instead.
   *
   * @param isHead whether it answers HEAD, so that its length is not that of a body
   */
  answer(isHead?: boolean): Promise<RawAnswer | undefined>
  /** Hands on what comes, and keeps none of it, until the server has closed the connection. */
  each(take: (chunk: Buffer) => void): Promise<void>
  /** Resolves once so many bytes have come, and reads no more. */
  some(size: number): Promise<void>
  /** Resolves with what came after the last answer, once the server has closed the connection. */
  closed(): Promise<Buffer>
  destroy(): void
}

/** @param from the address of this machine that it comes from; default as the system chooses */
export async function openRaw(
  port: number,
  host = '127.0.0.1',
  from?: string,
): Promise<RawConnection> {
  const socket = connect({ port, host, noDelay: true, ...(from && { localAddress: from }) })
  // A reset is how a server may close, too.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return rawOver(socket)
}

function rawOver(socket: Socket): RawConnection {
  let came: Buffer = Buffer.alloc(0)
  let isOver = false
  let wake = (): void => undefined
  socket.on('data', (chunk: Buffer) => {
    came = Buffer.concat([came, chunk])
    wake()
  })
  socket.on('close', () => {
    isOver = true
    wake()
  })
  const more = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
    })

  async function answer(isHead = false): Promise<RawAnswer | undefined> {
    socket.resume()
    for (;;) {
      const parsed = parseAnswer(came, isHead, isOver)
      if (parsed !== undefined) {
        came = came.subarray(parsed.length)
        return parsed.answer
      }
      if (isOver) return undefined
      await more()
    }
  }

  return {
    send: (bytes) => void socket.write(bytes, 'latin1'),
    answer,
    async each(take) {
      socket.resume()
      do {
        take(came)
        came = Buffer.alloc(0)
        await more()
      } while (!isOver)
      take(came)
    },
    async some(size) {
      while (came.length < size && !isOver) await more()
      socket.pause()
    },
    async closed() {
      socket.resume()
      while (!isOver) await more()
      return came
    },
    destroy: () => void socket.destroy(),
  }
}

/** The first whole answer; what has no length goes to the end of the connection. */
function parseAnswer(
  came: Buffer,
  isHead: boolean,
  isOver: boolean,
): { readonly answer: RawAnswer; readonly length: number } | undefined {
  const end = came.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = came.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  const status = Number(first.split(' ')[1])
  const begin = end + 4
  const given = headers.get('content-length')?.[0]
  const isEmpty = isHead || status === 204 || status === 304 || status < 200
  if (given === undefined && !isEmpty && !isOver) return undefined
  const size = isEmpty ? 0 : Number(given ?? came.length - begin)
  if (came.length < begin + size) return undefined
  const body = came.subarray(begin, begin + size)
  return { answer: { status, headers, body }, length: begin + size }
}
