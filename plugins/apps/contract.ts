/**
 * Content-addressed storage of the bytes of apps: files of revisions, the trees that name them, knowledge
 * files.
 *
 * Bytes are named by their SHA-256 and never change. Apps share nothing: an app is dropped as a whole, and no
 * app can find out what another one holds. Ids of apps are `[a-z0-9]{8,32}`, digests 64 lower-case hex
 * digits; every method refuses anything else with a TypeError before it accesses storage.
 *
 * Concurrency:
 *
 * - put and put: both resolve; the bytes are kept once, as of the later of the two.
 * - put and remove: bytes that were put at or after the remove's instant stay readable throughout; the remove
 *   may delete all or some of the others that it names.
 * - put and drop: a put that ends during a drop is dropped or stays, and resolves either way; one that begins
 *   after the drop resolved stays.
 * - remove and remove: each deletion is counted by one of them.
 * - a killed process: a put is kept completely or not at all; a remove may be partial; a drop may be partial,
 *   and dropping again completes it. An unfinished put is never readable, and is deleted at an opening or a
 *   `list` once it is an hour old.
 *
 * An implementation proves itself with `conformance`.
 *
 * @module
 */
import type { Instant } from '../../lib/time.ts'

export { bytesError } from './errors.ts'
export type { BytesErrorCode } from './errors.ts'

export interface Kept {
  /** Lower-case hex. */
  readonly sha256: string
  readonly size: number
}

export interface Listed extends Kept {
  /** Time of the last put, by the writer's clock; it never decreases. */
  readonly kept_at: Instant
}

export interface PutOptions {
  /** Maximum bytes. Default: unlimited. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

/** A part of the bytes, from 0; the end is exclusive. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface AppBytes {
  /**
   * Stores bytes under their digest; durable when it resolves. Storing the same bytes again only renews
   * `kept_at`.
   *
   * A stream is read one chunk at a time, and ended when the put fails; then nothing is left behind.
   *
   * @throws KeyhookError `bytes_too_large` beyond the limit, `unavailable` when they cannot be stored
   * @throws what the stream throws, and the signal's reason
   */
  put(
    appId: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    options?: PutOptions,
  ): Promise<Kept>

  /** @throws KeyhookError `bytes_damaged` when the stored bytes do not match the digest */
  get(appId: string, sha256: string): Promise<Uint8Array | undefined>

  /**
   * A stream of all bytes, or of a range; it holds no resources until it is read. When the bytes are removed
   * meanwhile, it yields all of them or fails with `bytes_gone`; it never ends early.
   *
   * @throws KeyhookError `bytes_damaged` at the end of all bytes when they do not match the digest
   * @throws TypeError for a range of anything but integers from 0, start before end or equal
   */
  open(
    appId: string,
    sha256: string,
    range?: ByteRange,
  ): Promise<AsyncIterable<Uint8Array> | undefined>

  /**
   * All stored bytes, each once, in the order of digests. Bytes that are added or removed meanwhile may be
   * included; renewed ones are.
   */
  list(appId: string): AsyncIterable<Listed>

  /**
   * Removes the named bytes that were last put before an instant, and returns how many. After a power cut they
   * may be back.
   *
   * The instant must be further back than the clocks of the writers may differ.
   */
  remove(appId: string, sha256s: readonly string[], keptBefore: Instant): Promise<number>

  /** Removes all bytes of an app; an unknown app is fine. */
  drop(appId: string): Promise<void>

  /** All apps with stored bytes, each once; partially dropped ones may be included. */
  apps(): AsyncIterable<string>

  /** Whether several processes may share it. Default `false`: the daemon then refuses to be one of several. */
  readonly manyProcesses?: boolean

  /** Called once no call is running. */
  close(): Promise<void>
}
