/**
 * A destination is where webhooks of a type other than https send. The operator declares each by name; a
 * webhook names one as `type:name`, and never an address. It only sends: state, retries, history and disabling
 * are the core's.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */

/** Codes of a failed send. Stable and public. */
export const DESTINATION_ERRORS = {
  dns: 'The host name could not be resolved.',
  connect: 'The connection could not be opened.',
  tls: 'The TLS handshake failed or the certificate is not valid for the host.',
  timeout: 'No answer came in time.',
  reset: 'The connection was closed before an answer came.',
  aborted: 'The service stopped before an answer came.',
  destination: 'The destination did not accept the message.',
} as const satisfies Readonly<Record<string, string>>

export type DestinationErrorCode = keyof typeof DESTINATION_ERRORS

/** Known causes within the code `destination`. Stable and public. */
export const DESTINATION_CAUSES = {
  undeclared: 'The operator declares no destination of this name.',
  not_permitted: "The server refused the operator's credentials or permissions.",
  no_such_exchange: 'The server has no exchange of this name.',
  unroutable: 'The message reaches no queue.',
  rejected: 'The server rejected the message.',
  redirected: 'The server named another address, which is not followed.',
  full: 'The server has no room for the message.',
} as const satisfies Readonly<Record<string, string>>

export type DestinationCause = keyof typeof DESTINATION_CAUSES

/** Maximum bytes of a message's body. */
export const MAX_BODY_BYTES = 262_144

/** One attempt of a delivery. */
export interface DestinationMessage {
  /** Name of the destination, which `validate` accepts. */
  readonly name: string
  /** Id of the delivery: the same in every attempt, so that a consumer can drop repeats. */
  readonly id: string
  readonly event_id: string
  /** Event type. */
  readonly type: string
  /** Account and webhook, which decide on the secret that signs. */
  readonly account_id: string
  readonly webhook_id: string
  /** JSON. Its bytes must not change: they are what is signed. Read it before `send` resolves. */
  readonly body: Uint8Array
  /** The headers that an https webhook sends, with the event type, the delivery's id and the signature. */
  readonly headers: Readonly<Record<string, string>>
}

/** What became of one attempt. */
export type DestinationOutcome =
  /** The destination has stored the message, or handed it to whoever consumes it. */
  | { readonly ok: true }
  | {
      readonly ok: false
      readonly code: DestinationErrorCode
      readonly cause?: DestinationCause
      /** For logs alone: never a credential. */
      readonly internal?: string
    }

export interface Destination {
  /** Its type, `[a-z][a-z0-9-]{0,31}`, and the names that are declared now. */
  describe(): { readonly type: string; readonly names: readonly string[] }
  /** Whether the operator declares this name, and lets this account send there. It does no I/O. */
  validate(name: string, accountId: string): boolean
  /**
   * Sends a message at least once: `ok` only when the destination confirmed it. Does not retry. What `validate`
   * refuses is `destination` with the cause `undeclared`, and connects to nothing. Calls may overlap.
   *
   * Never rejects. Once the signal aborts, it resolves soon as `aborted`; the message may still arrive.
   */
  send(message: DestinationMessage, signal: AbortSignal): Promise<DestinationOutcome>
  /** Ends running and later sends as `aborted`, and closes every connection. May be called again. */
  close(): Promise<void>
}
