import { createSocket, type RemoteInfo } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import type { Test } from 'tap'

/** A name's IPv4 addresses, or the name that it stands for. */
export type Zone = Readonly<Record<string, string | readonly string[]>>

/** A name server on loopback, which every resolver of this process asks while the test lasts. */
export interface NameServer {
  /** The names it was asked for, as they came. */
  readonly asked: readonly string[]
  /** Keeps silent from now on. */
  hold(): void
  /** Answers what was asked meanwhile, and from now on at once. */
  letGo(): void
}

const A = 1
const CNAME = 5
const ANSWERED = 0x8180
const NO_SUCH_NAME = 0x8183
const HEADER_BYTES = 12

export async function startNameServer(t: Test, zone: Zone): Promise<NameServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  const waiting: (() => void)[] = []
  let silent = false
  socket.on('message', (query, { address, port }: RemoteInfo) => {
    asked.push(readQuestion(query).name)
    const answer = (): void => socket.send(answerTo(query, zone), port, address)
    if (silent) waiting.push(answer)
    else answer()
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  askAt(t, `127.0.0.1:${socket.address().port}`)
  return {
    asked,
    hold() {
      silent = true
    },
    letGo() {
      silent = false
      for (const answer of waiting.splice(0)) answer()
    },
  }
}

/** A resolver's first question is preceded by whom it and all later ones are put to. */
function askAt(t: Test, place: string): void {
  const { resolve4 } = Resolver.prototype
  const led = new WeakSet<Resolver>()
  t.intercept(Resolver.prototype, 'resolve4', {
    value(this: Resolver, name: string) {
      if (!led.has(this)) this.setServers([place])
      led.add(this)
      return resolve4.call(this, name, { ttl: false })
    },
  })
}

interface Question {
  readonly name: string
  readonly type: number
  readonly end: number
}

function readQuestion(query: Buffer): Question {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function answerTo(query: Buffer, zone: Zone): Buffer {
  const { name, type, end } = readQuestion(query)
  const records = recordsOf(name, type, zone)
  const header = Buffer.from(query.subarray(0, HEADER_BYTES))
  header.writeUInt16BE(name in zone ? ANSWERED : NO_SUCH_NAME, 2)
  for (const [at, count] of [1, records.length, 0, 0].entries()) {
    header.writeUInt16BE(count, 4 + 2 * at)
  }
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records])
}

/** Every name on the way with the one behind it, then the addresses of the last. */
function recordsOf(name: string, type: number, zone: Zone): readonly Buffer[] {
  const entry = zone[name] ?? []
  if (typeof entry === 'string') {
    return [record(name, CNAME, nameBytes(entry)), ...recordsOf(entry, type, zone)]
  }
  if (type !== A) return []
  return entry.map((address) => record(name, A, Buffer.from(address.split('.').map(Number))))
}

function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([nameBytes(name), fixed, data])
}

function nameBytes(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`))
  return Buffer.concat([...labels, Buffer.of(0)])
}
