import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import type { World } from './world.ts'

export const BOUNDARY = '----a-boundary'

export interface SentPart {
  readonly name?: string
  readonly filename?: string
  readonly content?: string | Uint8Array
  /** In place of the header that the name and filename make. */
  readonly header?: string
}

/** A multipart body with these parts, and its end unless it is to be cut off. */
export function bodyOf(parts: readonly SentPart[], end = `--${BOUNDARY}--\r\n`): Buffer {
  return Buffer.concat([
    ...parts.flatMap(({ content = '', ...part }) => [
      Buffer.from(`--${BOUNDARY}\r\n${headerOf(part)}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(end),
  ])
}

export function headerOf({ name, filename, header }: Omit<SentPart, 'content'>): string {
  const file = filename === undefined ? '' : `; filename="${filename}"`
  const named = name === undefined ? '' : `; name="${name}"`
  return header ?? `Content-Disposition: form-data${named}${file}`
}

export const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

/** An upload over a socket of its own, whose bytes go out when they are told to. */
export interface Pouring {
  readonly socket: Socket
  /** Sends a chunk of the body. */
  pour(chunk: string | Uint8Array): void
  /** Ends the body. */
  end(): void
  /** The first line and the body of the answer, once the connection is closed. */
  readonly answer: Promise<string>
}

/** Begins an upload whose body goes on as long as it is poured. */
export async function beginPouring(
  { baseUrl }: Pick<World, 'baseUrl'>,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Pouring> {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
  // What the other side does to the connection is told by the answer.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const lines = Object.entries({ host: '127.0.0.1', connection: 'close', ...headers })
  const isChunked = headers['content-length'] === undefined
  if (isChunked) lines.push(['transfer-encoding', 'chunked'])
  socket.write(
    `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  )
  return {
    socket,
    pour(chunk) {
      if (isChunked) socket.write(`${Buffer.byteLength(chunk).toString(16)}\r\n`)
      socket.write(chunk)
      if (isChunked) socket.write('\r\n')
    },
    end() {
      if (isChunked) socket.write('0\r\n\r\n')
    },
    answer: readAnswer(socket),
  }
}

async function readAnswer(socket: Socket): Promise<string> {
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  await once(socket, 'close')
  return answer
}
