import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'

/** A page of a list, as the service responds. */
export interface RowPage<Row> {
  readonly data: readonly Row[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** Which page of a list is asked for, as every list of the API takes it. */
export interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

/** Reads one page of a list; the signal aborts the request once nothing shows the list any more. */
export type ReadPage<Row> = (
  query: PageQuery,
  options: { readonly signal: AbortSignal },
) => Promise<RowPage<Row>>

const PAGE_SIZE = 50

type Pages<Row> = InfiniteData<RowPage<Row>, string | undefined>

export interface InfinitePages<Row> {
  readonly query: UseInfiniteQueryResult<Pages<Row>>
  readonly rows: readonly Row[]
  readonly hasMore: boolean
  /** Whether the list is not read again by itself. */
  readonly isKept: boolean
  /** Reads the next page, unless one is being read, the last one failed, or it brought nothing. */
  readonly readFurther: () => void
  /** Begins again with the newest. */
  readonly readAgain: () => void
}

/**
 * A list is read again by itself while it has at most so many pages. To read it again is a request for each page, and
 * would move what a person reads.
 */
const MOST_REPEATED = 2

const FRESH_MS = 5000

const isKept = (pages: Pages<unknown> | undefined): boolean =>
  (pages?.pages.length ?? 0) > MOST_REPEATED

/** The rows of a list as far as they were read. */
export function usePages<Row>({
  queryKey,
  read,
  every,
}: {
  readonly queryKey: readonly unknown[]
  readonly read: ReadPage<Row>
  readonly every?: number | undefined
}): InfinitePages<Row> {
  const queries = useQueryClient()
  const query = useInfiniteQuery<
    RowPage<Row>,
    Error,
    Pages<Row>,
    readonly unknown[],
    string | undefined
  >({
    queryKey,
    queryFn: ({ pageParam: cursor, signal }) =>
      read({ limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) }, { signal }),
    initialPageParam: undefined,
    getNextPageParam: ({ has_more, next_cursor }) =>
      has_more ? (next_cursor ?? undefined) : undefined,
    staleTime: ({ state }) => (isKept(state.data) ? 'static' : FRESH_MS),
    ...(every === undefined
      ? {}
      : { refetchInterval: ({ state }) => !isKept(state.data) && every }),
  })
  const { data, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data])
  const isLastEmpty = data?.pages.at(-1)?.data.length === 0
  return {
    query,
    rows,
    hasMore: hasNextPage,
    isKept: isKept(data),
    readFurther() {
      // A filter that seldom matches is searched further only when asked to.
      if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !isLastEmpty)
        void fetchNextPage({ cancelRefetch: false })
    },
    readAgain: () => void queries.resetQueries({ queryKey, exact: true }),
  }
}
