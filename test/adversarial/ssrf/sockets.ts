import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** A TCP client socket that this process made, by the code that made it. */
export interface MadeSocket {
  readonly stack: string
  /** Where it led; undefined while it is not connected. */
  port: number | undefined
}

/** Notes from now on every TCP client socket of this process, before it connects. */
export function watchSockets(t: { teardown(handler: () => void): void }): readonly MadeSocket[] {
  const made: MadeSocket[] = []
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket }
    const one: MadeSocket = { stack: new Error('made here').stack ?? '', port: undefined }
    socket.once('connect', () => {
      one.port = socket.remotePort
    })
    made.push(one)
  }
  subscribe('net.client.socket', note)
  t.teardown(() => unsubscribe('net.client.socket', note))
  return made
}

/** Those of the egress client, beside which a test has its own. */
export function ofEgress(made: readonly MadeSocket[]): readonly MadeSocket[] {
  return made.filter(({ stack }) => stack.includes('/plugins/egress/connect.js'))
}
