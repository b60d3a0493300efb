/** One question to the model's server. It is a POST. */
export interface AskRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Ends the exchange, also while its body is read. */
  readonly signal: AbortSignal
}

export interface AskAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** As it arrives. Whoever stops reading early ends the exchange. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * The one way out: a guarded HTTP client that can stream an answer. It never follows a redirect.
 *
 * Rejects when there is no status line; with `final: true` on the error when trying again cannot help,
 * such as for a refused address. `internal` on the error is told to logs: it names no credential.
 */
export type Ask = (request: AskRequest) => Promise<AskAnswer>
