/** Newest first, by the time-ordered id; `after` is the last id of the page before. */
export interface PageQuery {
  readonly limit: number
  readonly after: string | null
}

/** A page of records that may be large: it ends by bytes as well as by count. */
export interface SizedPageQuery extends PageQuery {
  /**
   * Bytes of text after which the page ends, with `more` set where records are left. The record that
   * reaches it is still on the page, so one always fits; larger ones behind it are not read. Default: no
   * limit.
   */
  readonly bytes?: number
}

export interface Page<T> {
  readonly rows: readonly T[]
  readonly more: boolean
  /** Where the next page begins, of a list that looks at so much at most and may find less than it is asked for. */
  readonly next?: string
}
