import { Button } from '@mantine/core'
import type { InfiniteData } from '@tanstack/react-query'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem } from './problem.tsx'
import { Loaded } from './loaded.tsx'

export interface Column<Row> {
  readonly name: string
  /** The first column holds the link of the row. */
  readonly cell: (row: Row) => ReactNode
  /** Hidden where a window is narrow. */
  readonly wide?: true
}

/** Rows whose whole area is the link in their first cell. */
export function Table<Row extends { readonly id: string }>({
  label,
  columns,
  rows,
}: {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
}) {
  return (
    <table className="table" aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ name, wide }) => (
            <th key={name} scope="col" className={wide && 'wide'}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            {columns.map(({ name, wide, cell }) => (
              <td key={name} className={wide && 'wide'}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A page of a list, as the service responds. */
export interface RowPage<Row> {
  readonly data: readonly Row[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** A list page by page; the service filters and sorts. */
export function List<Row extends { readonly id: string }>({
  queryKey,
  read,
  empty,
  every,
  ...table
}: {
  /** The operation and its filters. */
  readonly queryKey: readonly unknown[]
  readonly read: (cursor: string | undefined) => Promise<RowPage<Row>>
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly empty: ReactNode
  /** Milliseconds between reads; undefined reads once. */
  readonly every?: number | undefined
}) {
  const query = useInfiniteQuery<
    RowPage<Row>,
    Error,
    InfiniteData<RowPage<Row>>,
    readonly unknown[],
    string | undefined
  >({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined,
    getNextPageParam: ({ has_more, next_cursor }) =>
      has_more ? (next_cursor ?? undefined) : undefined,
    ...(every === undefined ? {} : { refetchInterval: every }),
  })
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const rows = pages.flatMap(({ data }) => data)
        return (
          <>
            {rows.length > 0 && <Table {...table} rows={rows} />}
            {rows.length === 0 && !query.hasNextPage && empty}
            {query.isFetchNextPageError && <Problem error={query.error} />}
            <p className="list-end">
              {rows.length > 0 && (
                <span className="quiet">{countOf(rows.length, query.hasNextPage)}</span>
              )}
              {query.hasNextPage && (
                <Button
                  size="xs"
                  variant="default"
                  loading={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  {rows.length === 0 ? 'Search further' : 'Show more'}
                </Button>
              )}
            </p>
          </>
        )
      }}
    </Loaded>
  )
}

function countOf(shown: number, more: boolean): string {
  return more ? `The first ${shown}` : shown === 1 ? '1 in all' : `${shown} in all`
}
