import { KeyhookError } from '../../../lib/errors.ts'
import { orAborted, untilAborted } from '../../../lib/internal/until-aborted.ts'
import type { Millis } from '../../../lib/time.ts'
import { SECOND } from '../../../lib/time.ts'
import type { FileErrorCode, Processed } from '../../../plugins/files/contract.ts'
import { RETRIABLE, fileError } from '../../../plugins/files/contract.ts'
import { EmbeddingError } from '../../../plugins/embeddings/contract.ts'
import type { FileEnd, FileFailure, FileRecord } from '../../../plugins/platform/contract/files.ts'
import type { LeasedJob } from '../../../plugins/platform/contract/jobs.ts'
import { JOB_KINDS } from '../../../plugins/platform/contract/jobs.ts'
import { withWords } from '../../../plugins/platform/contract/words.ts'
import type { Platform } from '../../platform.ts'
import { ClaimLost } from '../../jobs/handler.ts'
import type { JobHandler, Leased, Warn } from '../../jobs/handler.ts'
import { holdUntil } from '../../billing/billing.ts'
import { bytesOf } from '../../trees/keep.ts'
import { clearChunks, endFile } from './end.ts'
import { embedFile } from './embed.ts'
import { processorOf } from './service.ts'

/** Delay until the next attempt after a failure that is not due to the file. */
const RETRY_AFTER: Millis = 10 * SECOND

const WORKER_LOST: FileFailure = {
  code: 'worker_lost',
  message: 'The worker of the file stopped responding on every attempt. Retry, or split the file.',
}

const ENDS: Readonly<Record<string, FileFailure>> = {
  hold_expired: {
    code: 'hold_expired',
    message: 'The hold of the price expired while the file was queued. Retry.',
  },
}

/** @param retryAfter delay until the next attempt after a failure that is not due to the file */
export function createFileHandler(
  platform: Platform,
  warn: Warn,
  retryAfter: Millis = RETRY_AFTER,
): JobHandler<FileRecord, 'hold_expired'> {
  return {
    kind: 'file',
    async begin(tx, job, now) {
      const subject = await tx.files.begin(job)
      if (subject === undefined) return undefined
      const work = { account_id: subject.account_id, operation_id: subject.id }
      const isHeld = await platform.billing.extend(tx, work, holdUntil(job, now))
      return { subject, refusal: isHeld ? undefined : 'hold_expired' }
    },
    async run(leased, heartbeat, signal) {
      const report = (stage: string, done: number, total: number | null): void =>
        heartbeat.report({ stage, done, total })
      if (!(await clearChunks(platform, leased))) return
      // A deadline may have passed by now: a processor that only listens would never hear of it.
      signal.throwIfAborted()
      const processed = await orAborted(read(platform, leased, report, signal), signal)
      await orAborted(embedFile(platform, leased, processed.chunks, report, signal), signal)
      await heartbeat.stop()
      await endFile(platform, leased, { status: 'processed', ...processed })
    },
    end(leased, why) {
      // The processing of a file cannot be canceled.
      const error = why === 'timed_out' ? failureOf(why) : (ENDS[why] ?? WORKER_LOST)
      return endFile(platform, leased, { status: 'failed', error })
    },
    async fail(leased, cause) {
      const end = endOf(leased.job, cause)
      if (end !== undefined) {
        await endFile(platform, leased, end)
        return undefined
      }
      warn('a file could not be processed; retrying', leased.job.id, cause)
      return retryAfter
    },
  }
}

/** Reads the file and adds its passages as they come; searches find them when it has ended. */
async function read(
  platform: Platform,
  { job: { claim }, subject: file }: Leased<FileRecord>,
  report: (stage: string, done: number, total: number | null) => void,
  signal: AbortSignal,
): Promise<Processed> {
  const { store } = platform
  const bytes = bytesOf(platform)
  const { id, app_id, name, size, sha256 } = file
  async function* open(): AsyncGenerator<Uint8Array> {
    const kept = await bytes.open(app_id, sha256)
    if (kept === undefined) throw new Error(`the stored bytes of file ${id} are missing`)
    yield* kept
  }
  return processorOf(platform).process(
    { file_id: id, name, size, open: () => untilAborted(open(), signal) },
    {
      signal,
      stage: report,
      async take(chunks) {
        const added = chunks.map(withWords)
        const isHeld = await store.write((tx) => tx.files.addChunks(id, claim, added))
        if (!isHeld) throw new ClaimLost()
      },
    },
  )
}

/** How a failure ends the file; undefined when another attempt may succeed. */
function endOf({ attempts }: LeasedJob, cause: unknown): FileEnd | undefined {
  const isLast = attempts >= JOB_KINDS.file.attempts
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
