import type { IncomingMessage } from 'node:http'
import typeIs from 'type-is'
import type { Clock } from '../../../lib/engine/ports.ts'
import { JsonError, parseJson } from '../../../lib/internal/json.ts'
import { SECOND } from '../../../lib/time.ts'
import { createFairPool } from '../../limits/fair-pool.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { parseAuthority } from '../target.ts'
import type { BrowserReport } from '../site.ts'

/** Maximum bytes of a body, as browsers limit it themselves. */
const MAX_BODY = 64 * 1024
/** Maximum concurrent bodies, of one network and of all networks. */
const READING = { each: 8, limit: 256 }
/** Maximum duration of a body: it is small, and complete before it is sent. */
const LONGEST = 5 * SECOND

/** Parses the body of a media type; empty when it is not a report. */
export type ReadReports = (type: string, value: unknown) => readonly BrowserReport[]

/**
 * @param network origin of the request
 */
export type Intake = (
  request: IncomingMessage,
  network: string,
  read: ReadReports,
  done: (reports: readonly BrowserReport[]) => void,
) => void

export interface IntakePorts {
  readonly clock: Pick<Clock, 'after'>
  /** Counters of dropped reports. */
  readonly dropped: Metrics['reports']
}

/**
 * Receives reports of an app's own pages. `done` is called once in any case: nobody learns how a report was
 * judged. Reports of other sites' pages, bodies that are too long or too slow, and bodies beyond the
 * concurrent maximum are dropped.
 */
export function createIntake({ clock, dropped }: IntakePorts): Intake {
  const reading = createFairPool(READING)
  return (request, network, read, done) => {
    const { headers } = request
    function drop(why: keyof Metrics['reports']): void {
      dropped[why] += 1
      done([])
    }
    if (!isOfOwnPage(request) || headers['content-encoding'] !== undefined) {
      done([])
      return
    }
    if (Number(headers['content-length'] ?? 0) > MAX_BODY) {
      drop('too_large')
      return
    }
    let evict = (): void => undefined
    const lease = reading.take(network, 1, () => {
      evict()
    })
    if (lease === undefined) {
      drop('at_once')
      return
    }
    evict = readBody(request, clock, (body) => {
      lease.release()
      if (typeof body === 'string') {
        drop(body)
        return
      }
      const type = typeIs.is(headers['content-type'] ?? '', [])
      done(type === false ? [] : read(type, parse(body.toString())))
    })
  }
}

type Unread = 'too_large' | 'too_slow' | 'at_once'

/** Undefined for text that is not JSON. */
function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}

/**
 * Reads a whole body, or returns why it was not read; a truncated body is empty.
 *
 * @returns ends it in favour of another
 */
function readBody(
  request: IncomingMessage,
  clock: Pick<Clock, 'after'>,
  done: (body: Buffer | Unread) => void,
): () => void {
  const chunks: Buffer[] = []
  let size = 0
  function end(body: Buffer | Unread): void {
    cancel()
    request.off('data', take).off('end', finish).off('close', cutOff)
    if (typeof body === 'string') request.pause()
    done(body)
  }
  function take(chunk: Buffer): void {
    size += chunk.length
    chunks.push(chunk)
    if (size > MAX_BODY) end('too_large')
  }
  const finish = (): void => end(Buffer.concat(chunks))
  const cutOff = (): void => end(Buffer.alloc(0))
  const cancel = clock.after(LONGEST, () => end('too_slow'))
  request.on('data', take).on('end', finish).on('close', cutOff)
  return () => end('at_once')
}

/** Browsers send the origin of a request; a request without one does not come from a page. */
function isOfOwnPage({ headers }: IncomingMessage): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = headers
  if (origin === undefined && site === undefined) return false
  if (site !== undefined && site !== 'same-origin') return false
  return origin === undefined || hostOf(origin) === parseAuthority(host)
}

function hostOf(origin: string): string | undefined {
  const [, authority = ''] = /^https?:\/\/(.+)$/.exec(origin) ?? []
  return parseAuthority(authority)
}
