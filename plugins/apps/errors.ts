import type { ErrorTable } from '../../lib/errors.ts'
import { defineErrors, kernelError } from '../../lib/errors.ts'

export type BytesErrorCode = 'bytes_too_large' | 'bytes_damaged' | 'bytes_gone' | 'unavailable'

/** Errors of every implementation. */
export const bytesError: ErrorTable<BytesErrorCode> = defineErrors<BytesErrorCode>({
  bytes_too_large: { status: 413, text: 'These are more bytes than may be kept here.' },
  bytes_damaged: {
    status: 503,
    text: 'The stored bytes are damaged. The operator can restore them from a backup.',
  },
  unavailable: kernelError.rows.unavailable,
  bytes_gone: { status: 404, text: 'The stored bytes were removed while they were read.' },
})
