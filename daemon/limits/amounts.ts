/**
 * Limits of what requests and responses hold in this process, and of their rate. Amounts are bytes unless
 * the name says otherwise.
 *
 * @module
 */
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Printed records of one page of a list. A single larger record is its own page. */
export const PAGE_BYTES: number = 2 * MIB

/** Default maximum body of an operation. */
export const DEFAULT_BODY_LIMIT: number = MIB
/** A body costs a rate-limit token per started part of this size. */
export const TOKEN_BYTES: number = MIB

/** Bodies of accounts' requests, from before they are read until their operation has ended. */
export const BODY_BYTES: number = 20 * MIB
/** Bytes counted for a body that its operation reads in pieces. */
export const STREAMED_BODY_BYTES: number = 256 * KIB

/** Responses to accounts, from before they are created until the socket accepted them. */
export const RESPONSE_BYTES: number = 20 * MIB
/** Bodies of anonymous callers of all networks together, and the maximum of a single one. */
export const ANONYMOUS_BODY_BYTES: number = 4 * MIB
/** Responses to anonymous callers: pages, documents, errors. */
export const ANONYMOUS_RESPONSE_BYTES: number = 16 * MIB
/** Counted for a response before its operation runs, when its size is not known. */
export const RESERVED_RESPONSE_BYTES: number = 4 * KIB
/** Bytes counted for a download: pieces between storage and socket. */
export const DOWNLOAD_BYTES: number = 256 * KIB

/** Minimum average rate of a body or a response, in bytes per second. */
export const LEAST_PACE: number = KIB
/** Maximum lag of a transfer: at its beginning, and whenever it was fast before. */
export const MAX_WAIT: Millis = 30 * SECOND
/** Maximum lag of a body that is read whole. */
export const BODY_MAX_WAIT: Millis = 20 * SECOND
/** Seconds after which a request that found too many bytes in progress should be repeated. */
export const BYTES_RETRY_AFTER = 2
