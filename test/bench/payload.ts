/** Where a generator stamps when it sent: so many digits, in quotes. */
export const STAMP = '0'.repeat(16)
const MARK = '"sent":"'

/** Where a generator writes how often a connection has asked: so many digits, blanks before them. */
export const COUNT = '#'.repeat(10)

/** The type that most figures publish. */
export const TYPE = 'bench.happened'

/** About 1 KB of JSON, with the quotes, breaks and escapes that real payloads have. */
export const data = JSON.stringify({
  sent: STAMP,
  order: 'o_42',
  lines: Array.from({ length: 14 }, (_, index) => ({
    sku: `sku-${index}`,
    text: 'A "quoted" line\nwith breaks',
    price: 1999 + index,
  })),
})

/** The body that publishes one event of a type. */
export function publishing(type: string = TYPE): string {
  return `{"type":"${type}","data":${data}}`
}

/** The body that publishes `count` events with one request. */
export function publishingBatch(count: number): string {
  return `{"events":[${Array.from({ length: count }, () => publishing()).join(',')}]}`
}

/** What a receiver is sent: the body of the bare loops and of the peers. */
export const envelope = `{"id":"evt_01k7zq4w3mx5t8v2c6b9n1d0fh","type":"${TYPE}","created_at":"2026-01-31T12:00:00.000Z","data":${data}}`

/** The stamp in a body, in microseconds; 0 when there is none. */
export function readStamp(body: Buffer): number {
  const at = body.indexOf(MARK)
  if (at < 0) return 0
  const from = at + MARK.length
  return Number(body.toString('latin1', from, from + STAMP.length))
}

/** Where a stamp goes in a request; undefined when it carries none. */
export function stampPlace(request: Buffer): number | undefined {
  const at = request.indexOf(MARK)
  return at < 0 ? undefined : at + MARK.length
}

export function printStamp(micros: number): string {
  return String(micros).padStart(STAMP.length, '0')
}

/** Every place in a request where a count goes. */
export function countPlaces(request: Buffer): readonly number[] {
  const places: number[] = []
  for (let at = request.indexOf(COUNT); at >= 0; at = request.indexOf(COUNT, at + COUNT.length)) {
    places.push(at)
  }
  return places
}

export function printCount(count: number): string {
  return String(count).padStart(COUNT.length)
}
