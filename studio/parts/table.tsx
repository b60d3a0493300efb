import type { ReactNode } from 'react'
import type { InfinitePages, ReadPage } from './pages.ts'
import { usePages } from './pages.ts'
import { ListEnd } from './list-end.tsx'
import { Loaded } from './loaded.tsx'
import type { Column } from './rows.tsx'
import { Cells, Head } from './rows.tsx'
import { VirtualTable } from './virtual-table.tsx'

export type { Column }

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
      <Head columns={columns} />
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <Cells columns={columns} row={row} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Up to here all rows are in the page, where the browser finds them. */
const MOST_IN_PAGE = 50

/** A list that is read further as it is scrolled; the service filters and sorts. */
export function List<Row extends { readonly id: string }>({
  empty,
  queryKey,
  read,
  every,
  ...table
}: {
  /** The operation and its filters. */
  readonly queryKey: readonly unknown[]
  readonly read: ReadPage<Row>
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly empty: ReactNode
  /** Milliseconds between reads; undefined reads once. */
  readonly every?: number | undefined
}) {
  const pages = usePages({ queryKey, read, every })
  return (
    <Loaded query={pages.query}>
      {() => <Rows {...table} queryKey={queryKey} pages={pages} empty={empty} />}
    </Loaded>
  )
}

function Rows<Row extends { readonly id: string }>({
  pages,
  queryKey,
  empty,
  ...table
}: {
  readonly pages: InfinitePages<Row>
  readonly queryKey: readonly unknown[]
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly empty: ReactNode
}) {
  const { rows, hasMore } = pages
  const isVirtual = rows.length > 0 && (hasMore || rows.length > MOST_IN_PAGE)
  return (
    <>
      {isVirtual && (
        <VirtualTable
          {...table}
          // Another search has other rows.
          key={JSON.stringify(queryKey)}
          name={JSON.stringify(queryKey)}
          rows={rows}
          hasMore={hasMore}
          nearEnd={pages.readFurther}
        />
      )}
      {rows.length > 0 && !isVirtual && <Table {...table} rows={rows} />}
      {rows.length === 0 && !hasMore && empty}
      <ListEnd pages={pages} isVirtual={isVirtual} />
    </>
  )
}
