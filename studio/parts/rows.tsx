import type { ReactNode } from 'react'
import { memo } from 'react'

export interface Column<Row> {
  readonly name: string
  /** The first column holds the link of the row. */
  readonly cell: (row: Row) => ReactNode
  /** Hidden where a window is narrow. */
  readonly wide?: true
}

export function Head<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ name, wide }) => (
          <th key={name} scope="col" className={wide && 'wide'}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}

function CellsOf<Row>({
  columns,
  row,
}: {
  readonly columns: readonly Column<Row>[]
  readonly row: Row
}): ReactNode {
  return columns.map(({ name, wide, cell }) => (
    <td key={name} className={wide && 'wide'}>
      {cell(row)}
    </td>
  ))
}

/** Rendered again only for another row: a scrolled table renders with each frame. */
export const Cells = memo(CellsOf) as typeof CellsOf
