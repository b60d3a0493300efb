/**
 * What requests and responses may hold of this process, and how slowly they may move. Amounts are bytes
 * unless the name says otherwise.
 *
 * @module
 */
import type { Millis } from '../../lib/time.ts'
import { SECOND } from '../../lib/time.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Printed records of one page of a list. A single larger record is a page of its own. */
export const PAGE_BYTES: number = 2 * MIB

/** The largest body of an operation that declares no limit. */
export const DEFAULT_BODY_LIMIT: number = MIB
/** A body costs a token of the rate limits for each part of this size that it begins. */
export const TOKEN_BYTES: number = MIB

/** Bodies of accounts' requests, from before they are read until their operation has ended. */
export const BODY_BYTES: number = 20 * MIB
/** Counted for a body that its operation takes in a piece at a time. */
export const STREAMED_BODY_BYTES: number = 256 * KIB

/** Responses to accounts, from before they are made until the socket took them. */
export const RESPONSE_BYTES: number = 20 * MIB
/** Bodies of anonymous callers, of all networks together. A single one cannot be larger. */
export const ANONYMOUS_BODY_BYTES: number = 4 * MIB
/** Responses to anonymous callers: pages, documents, errors. */
export const ANONYMOUS_RESPONSE_BYTES: number = 16 * MIB
/** Counted for a response before its operation runs, when its size is not known. */
export const RESERVED_RESPONSE_BYTES: number = 4 * KIB
/** Counted for a download: pieces of it on their way from storage to the socket. */
export const DOWNLOAD_BYTES: number = 256 * KIB

/** The least that a body or a response moves on average, in bytes per second. */
export const LEAST_PACE: number = KIB
/** How far behind a transfer may be: at its beginning, and whenever it was fast before. */
export const MAX_WAIT: Millis = 30 * SECOND
/** The same for the body of a request that is read whole. */
export const BODY_MAX_WAIT: Millis = 20 * SECOND
/** Seconds after which a request that found too many bytes in progress should be repeated. */
export const BYTES_RETRY_AFTER = 2
