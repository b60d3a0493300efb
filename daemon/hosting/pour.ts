import { LRUCache } from 'lru-cache'
import type { AppBytes, ByteRange } from '../../plugins/apps/contract.ts'
import type { SentForm } from './beacon/pages.ts'
import { openSpliced } from './beacon/splice.ts'
import type { Exchange } from './exchange.ts'
import { begin } from './exchange.ts'
import type { HeaderList } from './headers.ts'

/** How an answer begins, and which part of the file it bears. */
export interface Answer {
  readonly status: number
  readonly headers: HeaderList
  /** Undefined for all of it. */
  readonly part: ByteRange | undefined
}

/** Sends a file as fast as it is taken, a piece at a time; rejects when it is not what was said. */
export type Pour = (
  exchange: Exchange,
  appId: string,
  form: SentForm,
  answer: Answer,
) => Promise<void>

/** Files that are known to be whole: those that were sent last. */
const MOST_KNOWN = 20_000

/**
 * Reads files as they are sent. To hash one costs as much as to read and send it, so each is hashed when
 * it is first sent whole: then its last piece waits until it was found undamaged, so that a damaged file
 * never arrives as if it were none.
 */
export function createPour(bytes: Pick<AppBytes, 'open'>): Pour {
  const whole = new LRUCache<string, true>({ max: MOST_KNOWN })

  return async (exchange, appId, { sha256, size, splice }, { status, headers, part }) => {
    const file = `${appId} ${sha256}`
    // A page was read whole when it was found where the beacon goes.
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
 * Sends so many bytes; false when nobody took them all.
 *
 * @param isHeld whether each piece waits for the next, and the last for the end
 * @throws Error when there are more or fewer
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
    if (ready !== undefined && !response.destroyed && !write(exchange, ready)) await room(exchange)
    if (response.destroyed) return false
  }
  if (left !== 0) throw new Error(`a file is not as long as it was said to be: ${left} left`)
  if (!response.destroyed) response.end(held)
  return true
}

/** Whether there is room for more. */
function write(exchange: Exchange, chunk: Uint8Array): boolean {
  return exchange.response.write(chunk, (cause) => {
    if (cause === null || cause === undefined) exchange.taken += chunk.length
  })
}

/** Resolves once there is room again, or nobody who takes anything. */
function room({ response }: Exchange): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
    if (response.destroyed) done()
  })
}
