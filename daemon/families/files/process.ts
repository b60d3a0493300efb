import { KeyhookError } from '../../../lib/errors.ts'
import { untilAborted } from '../../../lib/internal/until-aborted.ts'
import type { Millis } from '../../../lib/time.ts'
import { MINUTE, SECOND } from '../../../lib/time.ts'
import type { FileErrorCode, Processed } from '../../../plugins/files/contract.ts'
import { RETRIABLE, fileError } from '../../../plugins/files/contract.ts'
import { EmbeddingError } from '../../../plugins/embeddings/contract.ts'
import type { FileEnd, FileFailure, FileRecord } from '../../../plugins/platform/contract/files.ts'
import { withWords } from '../../../plugins/platform/contract/words.ts'
import type { Platform } from '../../platform.ts'
import { bytesOf } from '../../trees/keep.ts'
import type { Held } from './claim.ts'
import { ClaimLost, clearChunks, keepClaim } from './claim.ts'
import { embedFile } from './embed.ts'
import { endFile } from './end.ts'
import { processorOf } from './service.ts'

export interface FileTimes {
  /** How long a claim holds without a beat. */
  readonly lease: Millis
  readonly beat: Millis
  /** From the first claim to the end of the file. */
  readonly deadline: Millis
  /** Until what failed for the machine's sake is tried again. */
  readonly again: Millis
}

export const FILE_TIMES: FileTimes = {
  lease: MINUTE,
  beat: 15 * SECOND,
  deadline: 15 * MINUTE,
  again: 10 * SECOND,
}

/** Claims of one file before it is given up: what kills its worker kills the next one too. */
const MAX_ATTEMPTS = 3

const WORKER_LOST: FileFailure = {
  code: 'worker_lost',
  message: 'Whoever processed the file went away each time. Retry, or split it.',
}

/** Told of what goes wrong beside a file's own end. */
export type Warn = (what: string, fileId: string, cause: unknown) => void

/** Claims the file that has waited longest and processes it to its end; false when there was none. */
export async function processNext(
  platform: Platform,
  warn: Warn,
  times: FileTimes,
  stopping: AbortSignal,
): Promise<boolean> {
  const { store, clock, newId } = platform
  const claim = newId()
  const now = clock.now()
  const lease_until = now + times.lease
  const asked = { claim, now, lease_until, deadline_at: now + times.deadline }
  const file = await store.write((tx) => tx.files.claim(asked))
  if (file === undefined) return false
  const hopeless = judgeClaimed(file, now)
  if (hopeless === undefined) await processClaimed(platform, warn, times, { file, claim }, stopping)
  else await endFile(platform, { file, claim }, { status: 'failed', error: hopeless })
  return true
}

/** What ends a file before it is begun. */
function judgeClaimed({ attempts, deadline_at }: FileRecord, now: number): FileFailure | undefined {
  if (attempts > MAX_ATTEMPTS) return WORKER_LOST
  return deadline_at !== null && deadline_at <= now ? failureOf('timed_out') : undefined
}

async function processClaimed(
  platform: Platform,
  warn: Warn,
  times: FileTimes,
  held: Held,
  stopping: AbortSignal,
): Promise<void> {
  const { clock } = platform
  const late = new AbortController()
  const left = (held.file.deadline_at ?? clock.now() + times.deadline) - clock.now()
  const cancelDeadline = clock.after(left, () => {
    late.abort()
  })
  const kept = keepClaim(platform, held, times, (cause) => {
    warn('the claim of a file could not be renewed yet', held.file.id, cause)
  })
  const signal = AbortSignal.any([late.signal, kept.lost, stopping])
  try {
    if (!(await clearChunks(platform, held))) return
    const processed = await read(platform, held, kept.tell, signal)
    await embedFile(platform, held, processed.chunks, kept.tell, signal)
    await kept.stop()
    await endFile(platform, held, { status: 'processed', ...processed })
  } catch (cause) {
    await kept.stop()
    if (kept.lost.aborted || cause instanceof ClaimLost) return
    if (stopping.aborted) return await kept.release()
    const end = late.signal.aborted ? failedBy('timed_out') : endOf(held.file, cause)
    if (end !== undefined) return await endFile(platform, held, end)
    warn('a file could not be processed and is tried again', held.file.id, cause)
    await kept.giveBack(times.again)
  } finally {
    cancelDeadline()
    await kept.stop()
  }
}

/** Has the file read, its passages added as they come: nobody finds them before its end. */
async function read(
  platform: Platform,
  { file, claim }: Held,
  tell: (stage: string, done: number, total: number | null) => void,
  signal: AbortSignal,
): Promise<Processed> {
  const { store } = platform
  const bytes = bytesOf(platform)
  const { id, app_id, name, size, sha256 } = file
  async function* open(): AsyncGenerator<Uint8Array> {
    const kept = await bytes.open(app_id, sha256)
    if (kept === undefined) throw new Error(`the bytes of file ${id} are gone`)
    yield* kept
  }
  return processorOf(platform).process(
    { file_id: id, name, size, open: () => untilAborted(open(), signal) },
    {
      signal,
      stage: tell,
      async take(chunks) {
        const added = chunks.map(withWords)
        const isHeld = await store.write((tx) => tx.files.addChunks(id, claim, added))
        if (!isHeld) throw new ClaimLost()
      },
    },
  )
}

/** How a failure ends the file; undefined when the next attempt may go better. */
function endOf({ attempts }: FileRecord, cause: unknown): FileEnd | undefined {
  const isLast = attempts >= MAX_ATTEMPTS
  if (cause instanceof EmbeddingError) {
    const { code, message, retryable } = cause
    return isLast || !retryable ? { status: 'failed', error: { code, message } } : undefined
  }
  const code = codeOf(cause)
  const isFinal = code !== undefined && !RETRIABLE.has(code)
  return isLast || isFinal ? failedBy(code ?? 'processor_failed') : undefined
}

function codeOf(cause: unknown): FileErrorCode | undefined {
  const isOfFile = cause instanceof KeyhookError && Object.hasOwn(fileError.rows, cause.code)
  return isOfFile ? (cause.code as FileErrorCode) : undefined
}

function failedBy(code: FileErrorCode): FileEnd {
  return { status: 'failed', error: failureOf(code) }
}

function failureOf(code: FileErrorCode): FileFailure {
  return { code, message: fileError.rows[code].text }
}
