import type { DestinationCause, DestinationErrorCode, DestinationOutcome } from './contract.ts'

/** Codes of Node by their meaning for a delivery. */
const CODES: ReadonlyMap<string, DestinationErrorCode> = new Map(
  Object.entries({
    dns: ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL'],
    connect: [
      'ECONNREFUSED',
      'EHOSTUNREACH',
      'EHOSTDOWN',
      'ENETUNREACH',
      'ENETDOWN',
      'EADDRNOTAVAIL',
      'EACCES',
      'EPERM',
      'EMFILE',
      'ENFILE',
    ],
    timeout: ['ETIMEDOUT'],
    reset: ['ECONNRESET', 'ECONNABORTED', 'EPIPE'],
    tls: ['EPROTO'],
  } satisfies Partial<Record<DestinationErrorCode, readonly string[]>>).flatMap(
    ([meaning, codes]) => codes.map((code) => [code, meaning as DestinationErrorCode] as const),
  ),
)

const TLS = /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO)|SELF_SIGNED/

/** The server did not take the message, for a known cause. */
export function refusedAs(cause: DestinationCause, internal?: string): DestinationOutcome {
  return { ok: false, code: 'destination', cause, ...(internal !== undefined && { internal }) }
}

/** What an error of the network means; one without a known code is a connection that broke off. */
export function failureOf(error: unknown): DestinationOutcome {
  if (error instanceof RefusedError) return refusedAs(error.refusal, error.message)
  const { code = '', message }: NodeJS.ErrnoException =
    error instanceof Error ? error : new Error(String(error))
  const meaning = CODES.get(code) ?? (TLS.test(code) ? 'tls' : codeOfText(message))
  return { ok: false, code: meaning, internal: message }
}

/** Clients of brokers have no codes for these. */
function codeOfText(message: string): DestinationErrorCode {
  return /timeout|ETIMEDOUT/i.test(message) ? 'timeout' : 'reset'
}

/** The server refused the connection itself. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly refusal: DestinationCause

  constructor(refusal: DestinationCause, message: string) {
    super(message)
    this.refusal = refusal
  }
}
