/** What a peer is asked to do: send `count` jobs that it holds, and record each. */
export interface PeerAsked {
  /** Of the PostgreSQL database, or of the Redis. */
  readonly url: string
  readonly receiver: string
  readonly count: number
  readonly connections: number
}

const CHUNK = 1000

/** Sizes of the pieces in which jobs are added. */
export function chunksOf(count: number): readonly number[] {
  return Array.from({ length: Math.ceil(count / CHUNK) }, (_, index) =>
    Math.min(CHUNK, count - index * CHUNK),
  )
}
