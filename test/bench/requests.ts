import { countPlaces, printCount, printStamp, stampPlace } from './payload.ts'

/** A request that is sent again and again; only what stands in its places is new each time. */
export interface Request {
  readonly bytes: Buffer
  readonly stamp: number | undefined
  readonly counts: readonly number[]
}

export interface RequestParts {
  readonly host: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly key: string
  /** Of the body. */
  readonly type: string
  /** Undefined: none. */
  readonly body: string | undefined
  /** Further headers, by name. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
}

export function requestOf(parts: RequestParts): Request {
  const { host, method, path, key, type, body, headers = {} } = parts
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    `authorization: Bearer ${key}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined
      ? []
      : [`content-type: ${type}`, `content-length: ${Buffer.byteLength(body)}`]),
  ]
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)
  return { bytes, stamp: stampPlace(bytes), counts: countPlaces(bytes) }
}

/** What goes out now: a copy where anything is new, since the socket may still hold the bytes of the last. */
export function written({ bytes, stamp, counts }: Request, micros: number, count: number): Buffer {
  if (stamp === undefined && counts.length === 0) return bytes
  const copy = Buffer.from(bytes)
  if (stamp !== undefined) copy.write(printStamp(micros), stamp, 'latin1')
  for (const place of counts) copy.write(printCount(count), place, 'latin1')
  return copy
}
