/** What is sent over one connection, and what comes back. */
export interface Row {
  readonly name: string
  /** As it is written, in latin1. */
  readonly send: string
  readonly answers: readonly Expected[]
  /** The server closes the connection after the last answer; else it answers another request on it. */
  readonly closes?: true
}

export interface Expected {
  readonly status: number
  /** By name in lower case; null: it is not there. */
  readonly headers?: Readonly<Record<string, string | RegExp | null>>
  readonly body?: string | RegExp | Buffer
  /** It answers HEAD. */
  readonly head?: true
  /** Answered before it was seen that it is a request, in a few bytes. */
  readonly curt?: true
}

export const SHOP_HOST = 'shop.localhost'

type Headers = Readonly<Record<string, string>>

/** A request of so many header fields. */
export function ask(method: string, target: string, headers: Headers, body = ''): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** A GET of the shop. */
export function get(target: string, headers: Headers = {}): string {
  return ask('GET', target, { Host: SHOP_HOST, ...headers })
}

/** Tags are told from each other by how they begin, and long headers by how they do. */
function shortened(name: string): string {
  return name.replaceAll(/([0-9a-f]{8})[0-9a-f]{56}/g, '$1…').slice(0, 100)
}

/** A row of one GET of the shop with one answer. */
export function got(name: string, target: string, expected: Expected, headers: Headers = {}): Row {
  return { name: shortened(name), send: get(target, headers), answers: [expected] }
}

/** What no app and nothing else answers: it says so in plain text. */
export const NOBODY: Expected = {
  status: 404,
  headers: { 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' },
  body: 'There is nothing at this address.\n',
}

/** The page of the shop for what is missing. */
export const LOST: Expected = { status: 404, body: /lost/ }

export const MALFORMED: Pick<Row, 'answers' | 'closes'> = {
  answers: [{ status: 400, headers: { 'cache-control': 'no-store', connection: 'close' } }],
  closes: true,
}

/** Refused by the parser. */
export const NO_REQUEST: Pick<Row, 'answers' | 'closes'> = {
  answers: [{ status: 400, curt: true, headers: { connection: 'close' } }],
  closes: true,
}
