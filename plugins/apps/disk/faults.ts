import { kernelError } from '../../../lib/errors.ts'
import { bytesError } from '../errors.ts'

/** What opening says of a link, and of a file where a folder has to be. */
const REPLACED = new Set(['ELOOP', 'ENOTDIR', 'EISDIR'])

/**
 * Runs what asks the file system alone: the errors of a caller's stream bear codes of the system too.
 *
 * @throws KeyhookError `unavailable` for a fault of the machine, `bytes_damaged` for what was replaced
 */
export async function onDisk<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    const code = codeOf(cause)
    if (code === undefined) throw cause
    const refuse = REPLACED.has(code) ? () => replaced(cause) : () => unavailable(cause)
    throw refuse()
  }
}

/** The same, but what is not there is `undefined`. */
export async function unlessMissing<T>(act: () => Promise<T>): Promise<T | undefined> {
  return onDisk(async () => {
    try {
      return await act()
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return undefined
      throw cause
    }
  })
}

/** What lies where ours should was put there by somebody else. */
export function replaced(cause: unknown): Error {
  return bytesError('bytes_damaged', { cause, internal: String(cause) })
}

function unavailable(cause: unknown): Error {
  return kernelError('unavailable', { cause, internal: String(cause) })
}

/** The system's code, such as ENOENT. */
export function codeOf(cause: unknown): string | undefined {
  const isOfSystem = cause instanceof Error && 'syscall' in cause && 'code' in cause
  return isOfSystem && typeof cause.code === 'string' ? cause.code : undefined
}
