/**
 * Where the bytes of apps lie: files of revisions, the trees that name them, knowledge files.
 *
 * Bytes are named by their SHA-256 and never change. Apps share nothing: an app is dropped whole, and
 * nobody learns what another one holds. Ids of apps are `[a-z0-9]{8,32}`, digests 64 lower-case hex
 * digits; every method refuses anything else with a TypeError before it looks anywhere.
 *
 * Who wins:
 *
 * - put against put: both resolve; the bytes are kept once, as of the later of the two.
 * - put against remove: what was put at or after the remove's instant stays, and whoever put it finds it
 *   at any time; of the rest the remove may take what it was given, in part or whole.
 * - put against drop: a put that ends while a drop is under way goes with the app or stays, and resolves
 *   either way; one that begins after the drop resolved stays.
 * - remove against remove: what goes is counted by one of them.
 * - killed in the middle: of a put nothing is kept, or all of it; of a remove some may have gone; of a
 *   drop some may be left, and to drop it again takes that. What an unfinished put wrote is never
 *   readable, and is cleared away at an opening or a `list` once it is an hour old.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */
import type { Instant } from '../../lib/time.ts'

export interface Kept {
  /** Lower-case hex. */
  readonly sha256: string
  readonly size: number
}

export interface Listed extends Kept {
  /** When it was last put, by the clock of who put it; it never goes back. */
  readonly kept_at: Instant
}

export interface PutOptions {
  /** The most bytes that are taken. Default: any number. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

/** A part of what is kept, from 0; the end is exclusive. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface AppBytes {
  /**
   * Keeps bytes under their digest; durable when it resolves. The same bytes again only renew `kept_at`.
   *
   * A stream is read one chunk at a time, and ended when the put fails; then nothing is left behind.
   *
   * @throws KeyhookError `bytes_too_large` beyond the limit, `unavailable` when they cannot be kept
   * @throws what the stream throws, and the signal's reason
   */
  put(
    appId: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    options?: PutOptions,
  ): Promise<Kept>

  /** @throws KeyhookError `bytes_damaged` when what is there is not what was put */
  get(appId: string, sha256: string): Promise<Uint8Array | undefined>

  /**
   * A stream of all, or of a part as far as there is one; it holds nothing until it is read. Removed
   * meanwhile, it gives all of it or ends with `bytes_gone`, never early as if it were whole.
   *
   * @throws KeyhookError `bytes_damaged` when all of it was read, and it is not what was put
   * @throws TypeError for a range of anything but integers from 0, start before end or equal
   */
  open(
    appId: string,
    sha256: string,
    range?: ByteRange,
  ): Promise<AsyncIterable<Uint8Array> | undefined>

  /**
   * What is kept, each once, in the order of digests. What comes or goes meanwhile may be among it or
   * not; what only is renewed is.
   */
  list(appId: string): AsyncIterable<Listed>

  /**
   * Removes those of the named that were last kept before an instant, and answers how many went. After
   * a power cut they may be back.
   *
   * The instant lies further back than the clocks of those who put may differ.
   */
  remove(appId: string, sha256s: readonly string[], keptBefore: Instant): Promise<number>

  /** Removes all of an app, for good; one that is not there is fine. */
  drop(appId: string): Promise<void>

  /** Every app of which something is kept, each once; one whose end was cut short may be among them. */
  apps(): AsyncIterable<string>

  /** Several processes may share it. Default `false`: the daemon then refuses to be one of several. */
  readonly manyProcesses?: boolean

  /** For when nothing is under way any more. */
  close(): Promise<void>
}
