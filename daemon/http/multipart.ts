import type { Readable } from 'node:stream'
import type { Busboy } from 'busboy'
import busboy from 'busboy'
import type { Clock } from '../../lib/engine/ports.ts'
import { KeyhookError } from '../../lib/errors.ts'
import type { Millis } from '../../lib/time.ts'
import { MINUTE, SECOND } from '../../lib/time.ts'
import { httpError } from '../errors.ts'
import { unknownField } from '../faults.ts'
import type { GivenPart, PartSpec, PartsInput } from '../parts.ts'
import { mostBytes, mostParts } from '../parts.ts'
import type { RequestContext } from './state.ts'

/** A body of which no byte comes for this long is given up. */
const STALL: Millis = 30 * SECOND
/** How long a body may take, its reader included. */
const LONGEST: Millis = 15 * MINUTE

type Body = RequestContext['req']

/** A multipart body on its way in. */
export interface Intake {
  /** Read at most once. What stands against the whole body is thrown, and ends the file under way. */
  readonly parts: AsyncIterable<GivenPart>
  /** Reads nothing more; what still comes is dropped. */
  end(): void
}

interface Waiting {
  readonly part: GivenPart
  readonly stream: Readable | undefined
}

/**
 * Takes a body apart while it comes in: no faster than it is read, and no further than its limits.
 *
 * @throws KeyhookError `invalid_multipart` for a body without a boundary
 */
export function takeParts(
  body: Body,
  declared: PartsInput,
  clock: Pick<Clock, 'after' | 'steady'>,
): Intake {
  const limit = mostBytes(declared)
  const counts = new Map<string, number>()
  const waiting: Waiting[] = []
  const parser = openParser(body, declared)
  const stopWatching: (() => void)[] = []
  let size = 0
  let failure: KeyhookError | undefined
  let isOver = false
  let wake = (): void => undefined

  function fail(cause: KeyhookError): void {
    if (isOver) return
    failure = cause
    end()
  }

  function end(): void {
    if (isOver) return
    isOver = true
    for (const stop of stopWatching) stop()
    body.off('data', write)
    parser.destroy(failure)
    body.resume()
    wake()
  }

  function write(chunk: Buffer): void {
    size += chunk.length
    if (size > limit) fail(httpError('payload_too_large', { details: { limit_bytes: limit } }))
    // What it tells of while it is written to may have ended it all.
    else if (!parser.write(chunk) && !isOver) body.pause()
  }

  function take(kind: PartSpec['kind'], name: string | undefined): PartSpec | undefined {
    const spec = specOf(declared, name)
    const count = (counts.get(name ?? '') ?? 0) + 1
    counts.set(name ?? '', count)
    const refusal = judge(spec, kind, name ?? '', count)
    if (refusal !== undefined) fail(refusal)
    return refusal === undefined ? spec : undefined
  }

  function hand(part: GivenPart, stream?: Readable): void {
    waiting.push({ part, stream })
    wake()
  }

  parser.on('file', (given: string | undefined, stream, { filename }) => {
    // Who reads it hears of its end; when nobody does it must not end the process.
    stream.on('error', () => undefined)
    const spec = take(filename === undefined ? 'text' : 'file', given)
    if (spec === undefined || filename === undefined) return
    const name = given ?? ''
    hand({ kind: 'file', name, filename, bytes: bytesOf(stream, name, spec.limit) }, stream)
  })
  parser.on('field', (given: string | undefined, text, { valueTruncated }) => {
    const spec = take('text', given)
    if (spec === undefined) return
    const name = given ?? ''
    if (valueTruncated || Buffer.byteLength(text) > spec.limit) fail(tooLarge(name, spec.limit))
    else hand({ kind: 'text', name, text })
  })
  parser.on('partsLimit', () => {
    fail(httpError('invalid_multipart', { message: 'The body has too many parts.' }))
  })
  parser.on('error', (cause) => {
    fail(httpError('invalid_multipart', { cause }))
  })
  parser.on('drain', () => body.resume())
  parser.on('finish', end)

  function begin(): void {
    if (body.readableEnded) throw httpError('body_consumed')
    if (body.destroyed) throw httpError('invalid_request', { message: CUT_OFF })
    body.on('data', write)
    body.once('end', () => parser.end())
    for (const event of ['aborted', 'error', 'close']) {
      body.once(event, () => {
        if (!body.complete) fail(httpError('invalid_request', { message: CUT_OFF }))
      })
    }
    watchProgress()
  }

  function watchProgress(): void {
    const began = clock.steady()
    let seen = -1
    function look(): void {
      const stalls = size === seen && !body.isPaused()
      if (stalls || clock.steady() - began >= LONGEST) {
        fail(httpError('invalid_request', { message: TOO_SLOW }))
      } else {
        seen = size
        stopWatching[0] = clock.after(STALL, look)
      }
    }
    look()
  }

  async function* parts(): AsyncGenerator<GivenPart> {
    begin()
    try {
      for (let current: Waiting | undefined; ;) {
        current?.stream?.resume()
        while (waiting.length === 0 && !isOver) await new Promise<void>((came) => (wake = came))
        if (failure !== undefined) throw failure
        current = waiting.shift()
        if (current === undefined) break
        yield current.part
      }
      requireLeast(declared, counts)
    } finally {
      end()
    }
  }

  return { parts: parts(), end }
}

const CUT_OFF = 'The request was cut off.'
const TOO_SLOW = 'The body came too slowly, or stopped. Send less at once.'

function openParser(body: Body, declared: PartsInput): Busboy {
  const texts = Object.values(declared).filter(({ kind }) => kind === 'text')
  try {
    return busboy({
      headers: body.headers,
      defParamCharset: 'utf8',
      preservePath: true,
      limits: {
        // Told once that many have ended, so that one more than may be is told of.
        parts: mostParts(declared) + 1,
        fieldSize: Math.max(0, ...texts.map(({ limit }) => limit)) + 1,
      },
    })
  } catch (cause) {
    throw httpError('invalid_multipart', { cause })
  }
}

/** Ends without ending the stream, which the parser waits for: what is left of it flows away. */
async function* bytesOf(stream: Readable, name: string, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > limit) throw tooLarge(name, limit)
      yield chunk
    }
  } catch (cause) {
    // The parser ends a file with an error of its own where the body breaks off in it.
    throw cause instanceof KeyhookError ? cause : httpError('invalid_multipart', { cause })
  } finally {
    stream.resume()
  }
}

function specOf(declared: PartsInput, name: string | undefined): PartSpec | undefined {
  return name !== undefined && Object.hasOwn(declared, name) ? declared[name] : undefined
}

function judge(
  spec: PartSpec | undefined,
  kind: PartSpec['kind'],
  name: string,
  count: number,
): KeyhookError | undefined {
  if (spec === undefined) {
    return httpError('invalid_request', { errors: [unknownField('body', name)] })
  }
  if (spec.kind !== kind) {
    const message = spec.kind === 'file' ? 'Send a file, with a filename.' : 'Send text, no file.'
    return faulty(name, `expected_${spec.kind}`, message)
  }
  return count > spec.most ? faulty(name, 'too_big', `At most ${spec.most} parts.`) : undefined
}

function requireLeast(declared: PartsInput, counts: ReadonlyMap<string, number>): void {
  for (const [name, { least }] of Object.entries(declared)) {
    if ((counts.get(name) ?? 0) < least) throw faulty(name, 'missing', 'Send this part.')
  }
}

function faulty(name: string, code: string, message: string): KeyhookError {
  return httpError('invalid_request', { errors: [{ location: `body.${name}`, code, message }] })
}

function tooLarge(part: string, limit: number): KeyhookError {
  return httpError('payload_too_large', { details: { part, limit_bytes: limit } })
}
