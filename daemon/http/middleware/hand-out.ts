import { Readable } from 'node:stream'
import type { Clock } from '../../../lib/engine/ports.ts'
import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'
import type { Operation } from '../../family.ts'
import type { Platform } from '../../platform.ts'
import { toCall } from '../call.ts'
import type { Step } from '../state.ts'

/**
 * Answers an operation with bytes that somebody gave: to be kept as a file, never to be shown or run.
 *
 * @param admit refuses whoever may not read it any more
 */
export function handOut(
  operation: Extract<Operation, { effect: 'bytes' }>,
  platform: Platform,
  admit: Step,
): Step {
  return async function handOut(ctx) {
    const { name, size, bytes } = await operation.run(toCall(ctx, platform))
    const stillAdmitted = async (): Promise<void> => {
      await admit(ctx, () => Promise.resolve())
    }
    ctx.status = 200
    ctx.set('Content-Type', 'application/octet-stream')
    ctx.set('Content-Length', String(size))
    ctx.set('Content-Disposition', attachment(name))
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.set('Content-Security-Policy', "default-src 'none'; sandbox")
    ctx.set('Cache-Control', 'no-store')
    ctx.body = Readable.from(whileAdmitted(bytes, platform.clock, stillAdmitted), {
      objectMode: false,
    })
  }
}

/** A caller that reads slowly is looked at anew this often. */
const LOOK_EVERY: Millis = SECOND

async function* whileAdmitted(
  bytes: AsyncIterable<Uint8Array>,
  clock: Pick<Clock, 'steady'>,
  stillAdmitted: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let looked = clock.steady()
  for await (const chunk of bytes) {
    if (clock.steady() - looked >= LOOK_EVERY) {
      await stillAdmitted()
      looked = clock.steady()
    }
    yield chunk
  }
}

/** RFC 6266: a name for those who know no other, and the true one. */
function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
