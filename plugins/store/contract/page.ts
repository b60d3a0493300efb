/** Newest first, by the time-ordered id; `after` is the last id of the page before. */
export interface PageQuery {
  readonly limit: number
  readonly after: string | null
}

export interface Page<T> {
  readonly rows: readonly T[]
  readonly more: boolean
  /** Where the next page begins, of a list that looks at so much at most and may find less than it is asked for. */
  readonly next?: string
}
