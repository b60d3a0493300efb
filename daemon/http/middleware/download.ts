import { Readable } from 'node:stream'
import { create } from 'content-disposition'
import type { Clock } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'
import type { ByteRange } from '../../../plugins/apps/contract.ts'
import { httpError } from '../../operations/errors.ts'
import type { Download, Operation } from '../../operations/operation.ts'
import { DOWNLOAD_BYTES } from '../../limits/amounts.ts'
import type { Platform } from '../../platform.ts'
import { toCall } from '../call.ts'
import type { AdmissionSteps } from './admit.ts'
import { isUnchanged, rangeOf } from '../conditions.ts'
import type { AnyCall } from '../perform.ts'
import type { RequestContext, Step } from '../state.ts'
import type { Transfers } from '../transfers.ts'

/** Responds with the bytes of an uploaded file, as a download that no browser displays or runs. */
export function download(
  operation: Operation<'bytes'>,
  platform: Platform,
  transfers: Transfers,
  admission: AdmissionSteps,
): Step {
  return async function download(ctx) {
    const call = toCall(ctx, platform, admission)
    const file = await operation.run(call)
    const tag = `"${file.sha256}"`
    if (isUnchanged(ctx.headers, tag)) {
      ctx.status = 304
      describe(ctx, tag)
      return
    }
    const range = requestedRange(ctx, file, tag)
    // Headers of the file are set once it is open, so that no error response has them.
    if (ctx.method !== 'HEAD') ctx.state.hold?.reserve(DOWNLOAD_BYTES)
    const bytes = ctx.method === 'HEAD' ? undefined : await open(call, file, range)
    describe(ctx, tag)
    present(ctx, file, range)
    if (bytes !== undefined) ctx.body = bytes
  }

  async function open(
    call: Pick<AnyCall, 'principal' | 'ip' | 'admit'>,
    file: Download,
    range: ByteRange | undefined,
  ): Promise<Readable> {
    const transfer = transfers.begin('download', call.principal, call.ip)
    try {
      const stream = openDownload(await file.open(range), platform.clock, call.admit)
      stream.once('close', transfer.end)
      return stream
    } catch (cause) {
      transfer.end()
      throw cause
    }
  }
}

/** The requested range; undefined for the whole file. */
function requestedRange(
  ctx: RequestContext,
  { size }: Download,
  tag: string,
): ByteRange | undefined {
  // RFC 9110, 14.2: only GET supports ranges.
  const range = ctx.method === 'GET' ? rangeOf(ctx.headers, tag, size) : undefined
  if (range !== 'unsatisfiable') return range
  ctx.set('Content-Range', `bytes */${size}`)
  throw httpError('range_not_satisfiable', { details: { size_bytes: size } })
}

function describe(ctx: RequestContext, tag: string): void {
  ctx.set('ETag', tag)
  ctx.set('Accept-Ranges', 'bytes')
  ctx.set('Cache-Control', 'no-store')
}

function present(
  ctx: RequestContext,
  { name, size }: Download,
  range: ByteRange | undefined,
): void {
  const { start, end } = range ?? { start: 0, end: size }
  ctx.status = range === undefined ? 200 : 206
  if (range !== undefined) ctx.set('Content-Range', `bytes ${start}-${end - 1}/${size}`)
  ctx.set('Content-Type', 'application/octet-stream')
  ctx.set('Content-Length', String(end - start))
  ctx.set('Content-Disposition', attachment(name))
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Content-Security-Policy', "default-src 'none'; sandbox")
}

/** RFC 6266: with an ASCII name when the true one needs more. */
function attachment(name: string): string {
  return create(name, { fallback: name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_') })
}

/** Interval at which a download checks that its caller may still read. */
const LOOK_EVERY: Millis = SECOND
/** Bytes per chunk of the stream. */
const PIECE = 16_384

/**
 * Streams a file. A caller that reads too slowly is cut, as with any other response.
 *
 * @param stillAdmitted rejects when the caller may no longer read the file, which ends the stream
 */
function openDownload(
  bytes: AsyncIterable<Uint8Array>,
  clock: Pick<Clock, 'steady'>,
  stillAdmitted: () => Promise<void>,
): Readable {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let looked = clock.steady()
    for await (const chunk of bytes) {
      for (let at = 0; at < chunk.length; at += PIECE) {
        if (clock.steady() - looked >= LOOK_EVERY) {
          await stillAdmitted()
          looked = clock.steady()
        }
        yield chunk.subarray(at, at + PIECE)
      }
    }
  }

  return Readable.from(pieces(), { objectMode: false })
}
