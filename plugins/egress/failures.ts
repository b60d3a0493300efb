import type { RefusalReason } from '../../lib/egress/url.ts'
import type { Millis } from '../../lib/time.ts'
import { EGRESS_ERRORS, type EgressErrorCode, type EgressFailure } from './contract.ts'

/** Codes of Node, c-ares, OpenSSL and undici, by what they mean to the one who reads a delivery. */
const CODES: Readonly<Record<EgressErrorCode, readonly string[]>> = {
  dns: ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'EBADRESP', 'EFORMERR'],
  connect: [
    ['ECONNREFUSED', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL'],
    ['EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOBUFS', 'EAFNOSUPPORT'],
  ].flat(),
  tls: ['EPROTO', 'HOSTNAME_MISMATCH', 'INVALID_CA', 'INVALID_PURPOSE', 'PATH_LENGTH_EXCEEDED'],
  timeout: ['ETIMEDOUT', 'ETIMEOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'],
  refused_address: [],
  protocol: ['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'],
  reset: ['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'UND_ERR_SOCKET'],
  aborted: ['UND_ERR_ABORTED', 'UND_ERR_ABORT', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'],
}

const BY_CODE: ReadonlyMap<string, EgressErrorCode> = new Map(
  Object.entries(CODES).flatMap(([meaning, codes]) =>
    codes.map((code) => [code, meaning as EgressErrorCode] as const),
  ),
)

/** Families whose members are too many to list. */
const BY_FORM: readonly (readonly [RegExp, EgressErrorCode])[] = [
  [/^(?:CERT_|CRL_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|ERROR_IN_C)|SELF_SIGNED/, 'tls'],
  [/^HPE_/, 'protocol'],
]

/**
 * What an error of the network means; anything unknown is `protocol`.
 *
 * @example
 * classify(Object.assign(new Error('no'), { code: 'ECONNREFUSED' })) // 'connect'
 */
export function classify(error: Error): EgressErrorCode {
  if (error instanceof ConnectFailure) return error.failure
  // undici says this of answers that nobody asked for: 100, 101, bytes on an idle connection.
  if (/^bad (?:response|upgrade)$/.test(error.message)) return 'protocol'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return BY_CODE.get(code) ?? BY_FORM.find(([form]) => form.test(code))?.[1] ?? 'protocol'
}

/** Why no connection was handed out, in the words of the contract. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure'
  readonly failure: EgressErrorCode
  readonly reason: RefusalReason | undefined

  constructor(failure: EgressErrorCode, extras: { reason?: RefusalReason; cause?: Error } = {}) {
    super(EGRESS_ERRORS[failure], { cause: extras.cause })
    this.failure = failure
    this.reason = extras.reason
  }
}

/** Builds the failed result with its fixed text. */
export function failureOf(
  code: EgressErrorCode,
  durationMs: Millis,
  reason?: RefusalReason,
): EgressFailure {
  const failure = { ok: false, code, message: EGRESS_ERRORS[code], durationMs } as const
  return reason === undefined ? failure : { ...failure, reason }
}
