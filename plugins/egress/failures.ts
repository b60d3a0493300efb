import type { RefusalReason } from '../../lib/egress/url.ts'
import type { Millis } from '../../lib/time.ts'
import {
  EGRESS_CAUSES,
  EGRESS_ERRORS,
  type EgressCause,
  type EgressErrorCode,
  type EgressFailure,
} from './contract.ts'

/** Codes of Node, c-ares, OpenSSL and undici, by their meaning for a delivery. */
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
  // undici's message for unrequested responses: 100, 101, bytes on an idle connection.
  if (/^bad (?:response|upgrade)$/.test(error.message)) return 'protocol'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return BY_CODE.get(code) ?? BY_FORM.find(([form]) => form.test(code))?.[1] ?? 'protocol'
}

const CAUSES: readonly (readonly [RegExp, EgressCause])[] = [
  [/^ECONNREFUSED$/, 'refused'],
  [/^E(?:HOST|NET)(?:UNREACH|DOWN)$/, 'unreachable'],
  [/^(?:ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'connect_timeout'],
  [/^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'certificate_name'],
  [/^CERT_HAS_EXPIRED$/, 'certificate_expired'],
  [/^CERT_NOT_YET_VALID$/, 'certificate_not_yet_valid'],
  [/SELF_SIGNED|^UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|^CERT_UNTRUSTED$/, 'certificate_untrusted'],
]

/** The cause within the code of an error; undefined where none is known. */
export function causeOf(error: Error): EgressCause | undefined {
  if (error instanceof ConnectFailure) return error.known
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return CAUSES.find(([form]) => form.test(code))?.[1]
}

/** Why there is no connection, as a code of the contract. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure'
  readonly failure: EgressErrorCode
  readonly reason: RefusalReason | undefined
  readonly known: EgressCause | undefined

  constructor(
    failure: EgressErrorCode,
    extras: { reason?: RefusalReason; cause?: Error; known?: EgressCause } = {},
  ) {
    super(EGRESS_ERRORS[failure], { cause: extras.cause })
    this.failure = failure
    this.reason = extras.reason
    this.known = extras.known ?? (extras.cause && causeOf(extras.cause))
  }
}

/** What is known of a failure beside its code. */
export interface Known {
  readonly reason?: RefusalReason | undefined
  readonly cause?: EgressCause | undefined
}

/** Builds the failed result with its fixed text. */
export function failureOf(
  code: EgressErrorCode,
  durationMs: Millis,
  { reason, cause }: Known = {},
): EgressFailure {
  const message = cause === undefined ? EGRESS_ERRORS[code] : EGRESS_CAUSES[cause]
  return {
    ok: false,
    code,
    message,
    durationMs,
    ...(reason !== undefined && { reason }),
    ...(cause !== undefined && { cause }),
  }
}

/** What is known from an error of the network. */
export function knownOf(error: Error): Known {
  return {
    reason: error instanceof ConnectFailure ? error.reason : undefined,
    cause: causeOf(error),
  }
}
