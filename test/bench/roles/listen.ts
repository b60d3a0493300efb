import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { requestOf } from '../requests.ts'
import { serve } from '../serve.ts'

export interface Listening {
  readonly origin: string
  readonly path: string
  readonly keys: readonly string[]
  /** Streams of each key. */
  readonly each: number
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const sockets: Socket[] = []

/** Resolves once the stream has acknowledged. */
function openStream(asked: Listening, key: string): Promise<void> {
  const { host, hostname, port } = new URL(asked.origin)
  const { bytes } = requestOf({ ...asked, host, key, method: 'POST', type: 'application/json' })
  const socket = connect({ host: hostname, port: Number(port) })
  sockets.push(socket)
  let text = ''
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed: ${text}`)))
    socket.on('data', (chunk: Buffer) => {
      if (text.includes('/acknowledged')) return
      text += chunk.toString()
      if (text.includes('/acknowledged')) resolve()
    })
    socket.write(bytes)
  })
}

/** Opens all of them; answers how many are open. */
async function open(asked: Listening): Promise<number> {
  for (const key of asked.keys) {
    await Promise.all(Array.from({ length: asked.each }, () => openStream(asked, key)))
  }
  return sockets.filter(({ closed }) => !closed).length
}

function close(): void {
  for (const socket of sockets.splice(0)) socket.destroy()
}

serve({ open, close })
