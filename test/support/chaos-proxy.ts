import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { Millis } from '../../lib/time.ts'
import { createSeededRandom } from './seeded-random.ts'

/** A network between a client and a daemon that cuts, delays and repeats. */
export interface ChaosProxy {
  /** Of the daemon. */
  readonly port: number
  readonly url: string
  readonly cuts: number
  readonly delays: number
  readonly repeats: number
  close(): Promise<void>
}

const LONGEST_DELAY: Millis = 1200
/** Of a request that is kept to be sent once more. */
const LONGEST_REPEATED = 4096

/**
 * @param port of the daemon, which may start later
 * @param oneIn something happens to one of so many connections
 */
export async function startChaosProxy(
  port: number,
  seed: string,
  oneIn: number,
): Promise<ChaosProxy> {
  const random = createSeededRandom(seed)
  const done = { cuts: 0, delays: 0, repeats: 0 }
  const open = new Set<Socket>()

  const reach = (): Socket => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    return socket
  }

  const server = createServer((client) => {
    const kind = random.oneIn(oneIn) ? random.pick(['cut', 'delay', 'repeat']) : 'none'
    const after = random.below(LONGEST_DELAY)
    client.on('error', () => undefined)
    open.add(client)
    const upstream = reach()
    client.once('close', () => {
      open.delete(client)
      upstream.destroy()
    })
    upstream.once('close', () => setTimeout(() => client.end(), kind === 'delay' ? after : 0))
    if (kind === 'cut') {
      done.cuts += 1
      setTimeout(() => client.destroy(), after / 4)
    }
    let sent = Buffer.alloc(0)
    client.on('data', (part: Buffer) => {
      upstream.write(part)
      if (kind === 'repeat' && sent.length < LONGEST_REPEATED) sent = Buffer.concat([sent, part])
    })
    upstream.on('data', (part: Buffer) => {
      if (kind !== 'delay') {
        client.write(part)
        return
      }
      done.delays += 1
      setTimeout(() => client.write(part), after)
    })
    if (kind === 'repeat') {
      setTimeout(() => {
        done.repeats += 1
        reach().end(sent)
      }, after)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return done.cuts
    },
    get delays() {
      return done.delays
    },
    get repeats() {
      return done.repeats
    },
    async close() {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close').catch(() => undefined)
    },
  }
}
