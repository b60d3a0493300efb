import type { AppBytes, ByteRange } from '../../plugins/apps/contract.ts'
import type { SentForm } from './beacon/pages.ts'
import { openSpliced } from './beacon/splice.ts'
import type { Exchange } from './exchange.ts'
import { begin } from './exchange.ts'
import type { HeaderList } from './headers.ts'
import { LruCache } from '../../lib/internal/lru-cache.ts'

/** Head of a response, and the part of the file that it carries. */
export interface Answer {
  readonly status: number
  readonly headers: HeaderList
  /** Undefined: the whole file. */
  readonly part: ByteRange | undefined
}

/**
 * Sends a file chunk by chunk, as fast as the client reads; rejects when its length is not the declared
 * one.
 */
export type StreamFile = (
  exchange: Exchange,
  appId: string,
  form: SentForm,
  answer: Answer,
) => Promise<void>

/** Maximum remembered verified files. */
const MOST_KNOWN = 20_000

/**
 * Streams files from storage. Hashing a file costs as much as reading and sending it, so each is verified
 * when it is first sent whole: its last chunk waits for the digest, so that a damaged file never arrives
 * complete.
 */
export function createStreamFile(bytes: Pick<AppBytes, 'open'>): StreamFile {
  const whole = new LruCache<true>({ max: MOST_KNOWN })

  return async (exchange, appId, { sha256, size, splice }, { status, headers, part }) => {
    const file = `${appId} ${sha256}`
    // A page was verified when the position of its beacon was found.
    const isKnown = part !== undefined || splice !== undefined || whole.get(file) === true
    const all = { start: 0, end: size }
    const chunks = await (splice === undefined
      ? bytes.open(appId, sha256, isKnown ? (part ?? all) : undefined)
      : openSpliced(bytes, appId, splice, part ?? all))
    if (chunks === undefined) throw new Error(`${sha256} is not there`)
    const { start, end } = part ?? all
    if (!begin(exchange, status, headers, end - start)) return
    const isSent = await send(exchange, chunks, end - start, !isKnown)
    if (isSent && !isKnown) whole.set(file, true)
  }
}

/**
 * Sends a number of bytes; false when the client left before the end.
 *
 * @param isHeld whether each chunk waits for the next one, and the last for the end of the file
 * @throws Error when there are more or fewer bytes
 */
async function send(
  exchange: Exchange,
  chunks: AsyncIterable<Uint8Array>,
  length: number,
  isHeld: boolean,
): Promise<boolean> {
  const { response } = exchange
  let held: Uint8Array | undefined
  let left = length
  for await (const chunk of chunks) {
    left -= chunk.length
    if (left < 0) break
    const ready = isHeld ? held : chunk
    if (isHeld) held = chunk
    if (ready !== undefined && !response.destroyed && !write(exchange, ready))
      await drained(exchange)
    if (response.destroyed) return false
  }
  if (left !== 0) throw new Error(`a file is not as long as it was said to be: ${left} left`)
  if (!response.destroyed) response.end(held)
  return true
}

/** False when the response's buffer is full. */
function write(exchange: Exchange, chunk: Uint8Array): boolean {
  return exchange.response.write(chunk, (cause) => {
    if (cause === null || cause === undefined) exchange.taken += chunk.length
  })
}

/** Resolves once the response accepts more, or is closed. */
function drained({ response }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
    if (response.destroyed) done()
  })
}
