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
  /** Where the next page begins, for a filtered list that stopped before it had a full page. */
  readonly next?: string
}

/**
 * Rows that one page of a filtered list looks at, at most.
 *
 * A filter that no index answers may match few rows of a large list, or none. Such a page ends after
 * that many rows: it may be short or empty while `more` is true, and `next` says where the next page
 * begins. Following the pages finds every row once. A read therefore holds a connection for a few
 * milliseconds, however large the list is.
 */
export const MOST_LOOKED_AT = 10_000

/** Ends a page at the last row it looked at, where rows are left and the page is not full. */
export function leadOn<T>(page: Page<T>, last: string | undefined): Page<T> {
  return page.more || last === undefined ? page : { ...page, more: true, next: last }
}
