/** Newest first, by the time-ordered id; `after` is the last id of the page before. */
export interface PageQuery {
  readonly limit: number
  readonly after: string | null
}

/** A page of records that may be large: it ends by bytes as well as by count. */
export interface SizedPageQuery extends PageQuery {
  /**
   * Bytes of text at which the page ends; `more` is then set if records are left. The record that reaches
   * it is still on the page, so that one always fits; those after it are not read. Default: no limit.
   */
  readonly bytes?: number
}

export interface Page<T> {
  readonly rows: readonly T[]
  readonly more: boolean
  /** Start of the next page, for a filtered list that ended before the page was full. */
  readonly next?: string
}

/**
 * Maximum rows that one page of a filtered list looks at.
 *
 * A filter that no index answers may match few rows of a large list, or none. Such a page ends after
 * that many rows: it may be short or empty while `more` is true, and `next` says where the next page
 * begins. Following the pages finds every row once. A read therefore holds a connection for a few
 * milliseconds, however large the list is.
 */
export const MOST_LOOKED_AT = 10_000

/** Adds the start of the next page to a page that is not full although rows are left. */
export function leadOn<T>(page: Page<T>, last: string | undefined): Page<T> {
  return page.more || last === undefined ? page : { ...page, more: true, next: last }
}
