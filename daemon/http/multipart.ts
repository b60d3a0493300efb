import type { Readable } from 'node:stream'
import type { Busboy } from 'busboy'
import busboy from 'busboy'
import type { Clock } from '../../lib/engine/ports.ts'
import { KeyhookError } from '../../lib/errors.ts'
import { cutText } from '../../lib/internal/text.ts'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'
import { httpError } from '../operations/errors.ts'
import { unknownField } from '../operations/faults.ts'
import type { GivenPart, PartSpec, PartsInput } from '../operations/parts.ts'
import { declaredName, mostBytes, mostParts } from '../operations/parts.ts'
import type { Pace } from './pace.ts'
import { watchPace } from './pace.ts'
import type { RequestContext } from './state.ts'
import type { Transfer } from './transfers.ts'

/** Maximum duration of a body, its reader included. */
const LONGEST: Millis = 15 * MINUTE

type Body = RequestContext['req']

/** A multipart body that is being received. */
export interface Intake {
  /** May be read once. An error of the whole body is thrown, and ends the current file. */
  readonly parts: AsyncIterable<GivenPart>
  /** Ends it with an error, unless it has ended. */
  refuse(cause: KeyhookError): void
  /** Stops reading; the rest of the body is dropped. */
  end(): void
}

interface Waiting {
  readonly part: GivenPart
  readonly stream: Readable | undefined
}

/** An accepted part. */
interface Admitted {
  /** Declared name. */
  readonly name: string
  readonly spec: PartSpec
}

/**
 * Parses a body as it arrives: no faster than it is read, and up to its limits.
 *
 * @throws KeyhookError `invalid_multipart` for a body without a boundary
 */
export function takeParts(
  body: Body,
  declared: PartsInput,
  clock: Pick<Clock, 'after' | 'steady'>,
  transfer: Pick<Transfer, 'hold'>,
): Intake {
  const limit = mostBytes(declared)
  const counts = new Map<string, number>()
  const sizes = new Map<string, number>()
  const waiting: Waiting[] = []
  const parser = openParser(body, declared)
  const stopWatching: (() => void)[] = []
  let pace: Pace | undefined
  let size = 0
  let failure: KeyhookError | undefined
  let isOver = false
  let resume = (): void => undefined

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
    resume()
  }

  function write(chunk: Buffer): void {
    size += chunk.length
    pace?.moved(chunk.length)
    const refusal = size > limit ? tooLarge(undefined, limit) : transfer.hold(chunk.length)
    if (refusal !== undefined) fail(refusal)
    // A callback during the write may have ended the body.
    else if (!parser.write(chunk) && !isOver) body.pause()
  }

  function take(kind: PartSpec['kind'], given = '', text = ''): Admitted | undefined {
    if (`${given}${text}`.includes(REPLACEMENT)) {
      fail(notUnicode(given))
      return undefined
    }
    const name = declaredName(declared, given) ?? given
    const spec = Object.hasOwn(declared, name) ? declared[name] : undefined
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    const refusal = judge(declared, kind, name, count)
    if (refusal !== undefined) fail(refusal)
    return refusal === undefined && spec !== undefined ? { name, spec } : undefined
  }

  /** Counts the bytes of a file, and of all files with its name. */
  function meterOf({ name, spec: { limit, inAll = Infinity } }: Admitted): (bytes: number) => void {
    let own = 0
    return (bytes) => {
      own += bytes
      const all = (sizes.get(name) ?? 0) + bytes
      sizes.set(name, all)
      if (own > limit) throw tooLarge(name, limit)
      if (all > inAll) throw tooLarge(name, inAll)
    }
  }

  function hand(part: GivenPart, stream?: Readable): void {
    waiting.push({ part, stream })
    resume()
  }

  parser.on('file', (given: string | undefined, stream, { filename }) => {
    // The reader receives the error; without a reader it must not end the process.
    stream.on('error', () => undefined)
    const admitted = take(filename === undefined ? 'text' : 'file', given, filename)
    if (admitted === undefined || filename === undefined) return
    const bytes = bytesOf(stream, meterOf(admitted))
    hand({ kind: 'file', name: admitted.name, filename, bytes }, stream)
  })
  parser.on('field', (given: string | undefined, text, { valueTruncated }) => {
    const admitted = take('text', given, text)
    if (admitted === undefined) return
    const { name, spec } = admitted
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
    pace = watchPace({ clock, isWaiting: () => !body.isPaused(), tooSlow: giveUp })
    stopWatching.push(pace.stop, clock.after(LONGEST, giveUp))
  }

  function giveUp(): void {
    fail(httpError('body_too_slow'))
  }

  async function* parts(): AsyncGenerator<GivenPart> {
    begin()
    try {
      for (let current: Waiting | undefined; ;) {
        current?.stream?.resume()
        while (waiting.length === 0 && !isOver) await new Promise<void>((came) => (resume = came))
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

  return { parts: parts(), refuse: fail, end }
}

const CUT_OFF = 'The request was cut off.'

function openParser(body: Body, declared: PartsInput): Busboy {
  const texts = Object.values(declared).filter(({ kind }) => kind === 'text')
  try {
    return busboy({
      headers: body.headers,
      defParamCharset: 'utf8',
      preservePath: true,
      limits: {
        // One more than allowed, so that too many parts are reported.
        parts: mostParts(declared) + 1,
        fieldSize: Math.max(0, ...texts.map(({ limit }) => limit)) + 1,
      },
    })
  } catch (cause) {
    throw httpError('invalid_multipart', { cause })
  }
}

/** Ends without ending the stream, which the parser waits for: the rest of it is drained. */
async function* bytesOf(
  stream: Readable,
  measure: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  try {
    const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
    for await (const chunk of chunks) {
      measure(chunk.length)
      yield chunk
    }
  } catch (cause) {
    // The parser ends a file with its own error when the body is truncated in it.
    throw cause instanceof KeyhookError ? cause : httpError('invalid_multipart', { cause })
  } finally {
    stream.resume()
  }
}

function judge(
  declared: PartsInput,
  kind: PartSpec['kind'],
  name: string,
  count: number,
): KeyhookError | undefined {
  const spec = Object.hasOwn(declared, name) ? declared[name] : undefined
  if (spec === undefined) {
    const errors = [unknownField('body', name, Object.keys(declared))]
    return httpError('invalid_request', { errors })
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

/** The parser's replacement for bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD'

function notUnicode(name: string): KeyhookError {
  const message = 'Send names and texts in UTF-8, without U+FFFD.'
  const location = `body.${cutText(name, 64)}`
  return httpError('invalid_multipart', {
    message,
    errors: [{ location, code: 'not_unicode', message }],
  })
}

function faulty(name: string, code: string, message: string): KeyhookError {
  return httpError('invalid_request', { errors: [{ location: `body.${name}`, code, message }] })
}

/**
 * @param part undefined: the whole body
 */
function tooLarge(part: string | undefined, limit_bytes: number): KeyhookError {
  const details = part === undefined ? { limit_bytes } : { part, limit_bytes }
  return httpError('payload_too_large', { details })
}
