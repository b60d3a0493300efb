/**
 * A fake of the public DNS: a real server on loopback that speaks the real protocol over UDP (RFC 1035),
 * answers for every name as a recursive one does, and fails and lies as it is told to.
 *
 * @module
 */
import { createSocket } from 'node:dgram'
import type { RemoteInfo } from 'node:dgram'
import { once } from 'node:events'

/** What stands at a name. */
export interface Records {
  readonly txt?: readonly string[]
  /** Then nothing else does. */
  readonly cname?: string
  readonly a?: readonly string[]
  readonly aaaa?: readonly string[]
}

/** How the server answers what stands at a name, other than well. */
export type Fault =
  | 'servfail'
  | 'refused'
  | 'silent'
  | 'wrong id'
  | 'wrong question'
  /** Says that there is more over TCP, where nobody listens. */
  | 'truncated'
  | 'garbage'
  /** A forged answer with another id comes first. */
  | 'forged first'

export interface DnsServer {
  /** As `KEYHOOK_DNS_SERVERS` takes it. */
  readonly address: string
  /** What it was asked, as `TXT name`, in its order. */
  readonly asked: readonly string[]
  /** @param of the questions that the fault is for; default: all */
  set(name: string, records: Records, fault?: Fault, of?: keyof typeof TYPES): void
  remove(name: string): void
}

interface Scope {
  teardown(handler: () => void): void
}

const TYPES = { A: 1, CNAME: 5, TXT: 16, AAAA: 28 } as const
const HEADER_BYTES = 12
/** A response to a query that asks for recursion. */
const RESPONSE = 0x8180
const RCODES = { ok: 0, servfail: 2, nxdomain: 3, refused: 5 } as const
const TRUNCATED = 0x0200

interface Entry {
  readonly records: Records
  readonly fault: Fault | undefined
  readonly of: keyof typeof TYPES | undefined
}

type Zone = ReadonlyMap<string, Entry>

export async function startDns(t: Scope): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const zone = new Map<string, Entry>()
  const asked: string[] = []
  socket.on('message', (query, { address, port }: RemoteInfo) => {
    const { name, type } = readQuestion(query)
    asked.push(`${nameOfType(type)} ${name}`)
    for (const answer of answersTo(query, zone)) socket.send(answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    set: (name, records, fault, of) => void zone.set(name, { records, fault, of }),
    remove: (name) => void zone.delete(name),
  }
}

interface Question {
  readonly name: string
  readonly type: number
  /** Where it ends in the query. */
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

function nameOfType(type: number): string {
  return Object.entries(TYPES).find(([, number]) => number === type)?.[0] ?? String(type)
}

/** What is sent, in its order: nothing, one answer, or a lie before it. */
function answersTo(query: Buffer, zone: Zone): readonly Buffer[] {
  const { name, type, end } = readQuestion(query)
  const question = query.subarray(HEADER_BYTES, end)
  const [id, entry] = [query.readUInt16BE(0), zone.get(name)]
  const records = recordsOf(name, type, zone)
  const well = print(id, entry === undefined ? RCODES.nxdomain : RCODES.ok, question, records)
  const isSpared = entry?.of !== undefined && TYPES[entry.of] !== type
  switch (isSpared ? undefined : entry?.fault) {
    case undefined:
      return [well]
    case 'servfail':
      return [print(id, RCODES.servfail, question, [])]
    case 'refused':
      return [print(id, RCODES.refused, question, [])]
    case 'silent':
      return []
    case 'wrong id':
      return [print(id ^ 1, RCODES.ok, question, records)]
    case 'wrong question': {
      const other = Buffer.concat([nameBytes('other.example.org'), question.subarray(-4)])
      return [print(id, RCODES.ok, other, records)]
    }
    case 'truncated':
      return [print(id, TRUNCATED, question, [])]
    case 'garbage':
      return [Buffer.concat([query.subarray(0, 2), Buffer.alloc(40, 0xff)])]
    case 'forged first': {
      const forged = textRecord(name, 'forged')
      return [print(id ^ 1, RCODES.ok, question, [forged]), well]
    }
  }
}

function print(id: number, flags: number, question: Buffer, records: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  for (const [at, value] of [id, RESPONSE | flags, 1, records.length, 0, 0].entries()) {
    header.writeUInt16BE(value, 2 * at)
  }
  return Buffer.concat([header, question, ...records])
}

/** As many names as a server goes through for a question. */
const MAX_ALIASES = 8

/** Every name on the way with the one behind it, then what is asked for at the last. */
function recordsOf(name: string, type: number, zone: Zone, passed = 0): readonly Buffer[] {
  const { txt = [], cname, a = [], aaaa = [] } = zone.get(name)?.records ?? {}
  if (cname !== undefined) {
    const alias = record(name, TYPES.CNAME, nameBytes(cname))
    if (type === TYPES.CNAME || passed === MAX_ALIASES) return [alias]
    return [alias, ...recordsOf(cname.toLowerCase(), type, zone, passed + 1)]
  }
  if (type === TYPES.TXT) return txt.map((text) => textRecord(name, text))
  if (type === TYPES.A) return a.map((address) => record(name, type, v4Bytes(address)))
  if (type === TYPES.AAAA) return aaaa.map((address) => record(name, type, v6Bytes(address)))
  return []
}

/** One minute to live, of the internet's class. */
function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(60, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([nameBytes(name), fixed, data])
}

/** A text is strings of at most 255 bytes, one after another. */
function textRecord(name: string, text: string): Buffer {
  const bytes = Buffer.from(text)
  const parts: Buffer[] = []
  for (let at = 0; at < Math.max(1, bytes.length); at += 255) {
    const part = bytes.subarray(at, at + 255)
    parts.push(Buffer.of(part.length), part)
  }
  return record(name, TYPES.TXT, Buffer.concat(parts))
}

function v4Bytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** Of an address that is written in full, without `::`. */
function v6Bytes(address: string): Buffer {
  const bytes = Buffer.alloc(16)
  for (const [at, group] of address.split(':').entries()) {
    bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * at)
  }
  return bytes
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => {
    return Buffer.concat([Buffer.of(label.length), Buffer.from(label)])
  })
  return Buffer.concat([...labels, Buffer.of(0)])
}
