import type { RefusalReason, UrlVerdict } from '../../lib/egress/url.ts'
import type { Millis } from '../../lib/time.ts'

/** One outbound call. */
export interface EgressRequest {
  readonly url: string
  readonly method: 'POST' | 'GET'
  /**
   * Sent in this order. `host`, `content-length`, `accept-encoding` and hop-by-hop headers are set by the
   * client: a request with one of them, or with an invalid name or value, ends as `protocol` and is not sent.
   */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** From the call to the last byte of the response: DNS, connect, status and body. */
  readonly timeout: Millis
  /**
   * Maximum bytes of the response body. The exchange ends beyond it, and beyond 16 KiB of the whole response on
   * the wire.
   */
  readonly maxResponseBytes: number
}

/** Why there is no status line; the text is public and reveals nothing about the target's network. */
export const EGRESS_ERRORS = {
  dns: 'The host name could not be resolved.',
  connect: 'The connection could not be opened.',
  tls: 'The TLS handshake failed or the certificate is not valid for the host.',
  timeout: 'No answer came in time.',
  refused_address:
    'The target is not permitted. The operator can permit private targets with KEYHOOK_WEBHOOK_ALLOW.',
  protocol: 'The exchange did not follow HTTP/1.1.',
  reset: 'The connection was closed before an answer came.',
  aborted: 'The service stopped before an answer came.',
} as const satisfies Readonly<Record<string, string>>

export type EgressErrorCode = keyof typeof EGRESS_ERRORS

/** Known causes within a code. Stable and public, like `EGRESS_ERRORS`. */
export const EGRESS_CAUSES = {
  not_found: 'The host name does not exist or has no address.',
  refused: 'The connection was refused: nothing accepts connections at this address and port.',
  unreachable: 'The host or its network is unreachable.',
  connect_timeout: 'No connection could be opened in time.',
  response_timeout: 'The connection was opened, but no answer came in time.',
  certificate_name: 'The TLS certificate is not valid for the host name.',
  certificate_expired: 'The TLS certificate has expired.',
  certificate_not_yet_valid: 'The TLS certificate is not valid yet.',
  certificate_untrusted: 'The TLS certificate is self-signed, or no trusted authority issued it.',
} as const satisfies Readonly<Record<string, string>>

export type EgressCause = keyof typeof EGRESS_CAUSES

export interface EgressAnswer {
  readonly ok: true
  /** 200 to 599, redirects included: they are never followed. */
  readonly status: number
  /** The raw `Retry-After`, at most 128 characters; read from answers other than 2xx. */
  readonly retryAfter: string | undefined
  /** At most `maxResponseBytes`; owned by the caller. */
  readonly body: Uint8Array
  /** Whether the body was cut: by the limit, the deadline, or the receiver. */
  readonly truncated: boolean
  /** Whether the target is on the operator's allow list: the body may be confidential. */
  readonly private: boolean
  readonly durationMs: Millis
}

export interface EgressFailure {
  readonly ok: false
  readonly code: EgressErrorCode
  /** Cause within `code`, where known. Public. */
  readonly cause?: EgressCause
  /** The text of `EGRESS_CAUSES`, else of `EGRESS_ERRORS`. Public. */
  readonly message: string
  /** For logs and the caller that registers the url. It may reveal what a name resolved to. */
  readonly reason?: RefusalReason
  readonly durationMs: Millis
}

/** The status line decides: with it the result is `ok`, also when the body breaks off. */
export type EgressResult = EgressAnswer | EgressFailure

/** One outbound call whose response is read as it arrives. */
export interface EgressStreamRequest extends Pick<EgressRequest, 'url' | 'headers' | 'body'> {
  readonly method: EgressRequest['method'] | 'HEAD' | 'PUT' | 'PATCH' | 'DELETE'
  /** Ends the exchange at any time, also while the response is read; deadlines are the caller's. */
  readonly signal: AbortSignal
}

export interface EgressStream {
  readonly ok: true
  /** 200 to 599, redirects included: they are never followed. */
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /**
   * Read with backpressure; a reader that stops early ends the exchange. It throws when the response breaks
   * off, exceeds the client's limit, or the signal aborts.
   */
  readonly body: AsyncIterable<Uint8Array>
  /** Until the status line. */
  readonly durationMs: Millis
}

export type EgressStreamed = EgressStream | EgressFailure

/** The guarded HTTP client: every outbound call of the product goes through one. */
export interface EgressClient {
  /**
   * Judges a url for registration, including the current addresses of its name. A name that does not resolve is
   * accepted: `send` judges again.
   */
  judge(url: string): Promise<UrlVerdict>
  /**
   * Sends one request and settles exactly once, within the timeout; never rejects, never follows a redirect,
   * never sends twice. Concurrent calls share connections.
   */
  send(request: EgressRequest): Promise<EgressResult>
  /**
   * Sends one request like `send`, and resolves with the status line: the body follows as it arrives. Never
   * rejects. A caller that does not read the body to its end aborts the signal.
   */
  stream(request: EgressStreamRequest): Promise<EgressStreamed>
  /** Ends streams, refuses new calls as `aborted`, waits for running ones, and closes all connections. */
  close(): Promise<void>
}

/**
 * Looks up DNS records of public names. Every lookup settles within seconds and never rejects. No record is an
 * empty list; undefined is no answer, an unusable one, or a name that is not looked up.
 */
export interface NameLookup {
  /** TXT, each whole. */
  texts(name: string): Promise<readonly string[] | undefined>
  /** CNAME, in lower case and without a final dot. */
  aliases(name: string): Promise<readonly string[] | undefined>
  /** A and AAAA. */
  addresses(name: string): Promise<readonly string[] | undefined>
}
