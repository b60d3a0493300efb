import { useMediaQuery } from '@mantine/hooks'
import type { Range, VirtualItem } from '@tanstack/react-virtual'
import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import type { FocusEvent, RefObject } from 'react'
import { Fragment, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Column } from './rows.tsx'
import { Cells, Head } from './rows.tsx'

/** Pixels of a row of two lines, until it is measured. */
const USUAL = 51
/** Rows on either side of the window, so that the focus moves on to one that is there. */
const BEYOND = 10
/** Rows from the end at which the next page is read. */
const NEAR = 25

/** A table of many rows that renders those near the window, and leaves the height of the others empty. */
export function VirtualTable<Row extends { readonly id: string }>({
  name,
  label,
  columns,
  rows,
  hasMore,
  nearEnd,
}: {
  /** Under which heights are remembered. */
  readonly name: string
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly hasMore: boolean
  readonly nearEnd: () => void
}) {
  const table = useRef<HTMLTableElement>(null)
  const margin = useTop(table)
  const [focused, setFocused] = useState<string>()
  const known = HEIGHTS.get(name)
  const usual = useRef(known?.usual)
  // Another function would have the heights of all rows added up anew with each frame.
  const getItemKey = useCallback((index: number) => rows[index]?.id ?? index, [rows])
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count: rows.length,
    estimateSize: () => usual.current ?? USUAL,
    overscan: BEYOND,
    scrollMargin: margin,
    getItemKey,
    rangeExtractor: (range) =>
      indexesIn(range, focused === undefined ? -1 : rows.findIndex(({ id }) => id === focused)),
    initialMeasurementsCache: known?.rows ?? [],
    // In fractions: whole pixels depend on where a row is, and would move what is scrolled with each row.
    measureElement: (row) => {
      const { height } = row.getBoundingClientRect()
      // Rows are alike: one as high as the first moves nothing, and the table is not rendered again for it.
      if (height > 0) usual.current ??= height
      return height
    },
    useFlushSync: false,
  })
  useLayoutEffect(
    () => () => rememberHeights(name, { usual: usual.current, rows: virtualizer.takeSnapshot() }),
    [name, virtualizer],
  )
  const items = virtualizer.getVirtualItems()
  const shares = useShares(table, items.length > 0)
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - NEAR) nearEnd()
  })
  let end = margin
  return (
    <table
      ref={table}
      className="table"
      data-fixed={shares !== undefined || undefined}
      aria-label={label}
      // The header is a row too; how many there are is known at the end.
      aria-rowcount={hasMore ? -1 : rows.length + 1}
    >
      {shares !== undefined && (
        <colgroup>
          {columns.map(({ name: column, wide }, at) => (
            <col key={column} className={wide && 'wide'} style={{ width: `${shares[at]}%` }} />
          ))}
        </colgroup>
      )}
      <Head columns={columns} />
      <tbody
        onFocus={({ target }) => setFocused(rows[rowOf(target)]?.id)}
        onBlur={() => setFocused(undefined)}
      >
        {items.map(({ index, key, start, end: itsEnd }) => {
          const row = rows[index]
          const height = start - end
          end = itsEnd
          return (
            row !== undefined && (
              <Fragment key={key}>
                {height > 0 && <Spacer height={height} columns={columns.length} />}
                <tr ref={virtualizer.measureElement} data-index={index} aria-rowindex={index + 2}>
                  <Cells columns={columns} row={row} />
                </tr>
              </Fragment>
            )
          )
        })}
        <Spacer height={virtualizer.getTotalSize() + margin - end} columns={columns.length} />
      </tbody>
    </table>
  )
}

function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  return (
    height > 0 && (
      <tr className="spacer" aria-hidden="true">
        <td colSpan={columns} style={{ height }} />
      </tr>
    )
  )
}

function rowOf(target: FocusEvent['target']): number {
  return Number(target.closest('tr')?.dataset['index'] ?? -1)
}

/** Those near the window, and the one with the focus, which would be lost with it. */
function indexesIn(range: Range, focused: number): number[] {
  const indexes = defaultRangeExtractor(range)
  if (focused < 0 || indexes.includes(focused)) return indexes
  return [...indexes, focused].toSorted((a, b) => a - b)
}

/** Pixels of the document above the rows. */
function useTop(table: RefObject<HTMLTableElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const body = table.current?.tBodies[0]
    const main = table.current?.closest('main')
    if (body === undefined || !main) return undefined
    const measure = (): void => setTop(Math.round(body.getBoundingClientRect().top + scrollY))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(main)
    return () => observer.disconnect()
  }, [table])
  return top
}

/**
 * Percent of the width that each column takes by its content, measured once: a table would measure them anew for each
 * row that comes and goes.
 */
function useShares(
  table: RefObject<HTMLTableElement | null>,
  hasRows: boolean,
): readonly number[] | undefined {
  // As wide as the style sheet hides columns below.
  const isNarrow = useMediaQuery('(max-width: 760px)', false, { getInitialValueInEffect: false })
  const [measured, setMeasured] = useState<{ isNarrow: boolean; shares: readonly number[] }>()
  const shares = measured?.isNarrow === isNarrow ? measured.shares : undefined
  useLayoutEffect(() => {
    const cells = table.current?.tHead?.rows[0]?.cells
    if (!hasRows || shares !== undefined || cells === undefined) return
    const widths = [...cells].map(({ offsetWidth }) => offsetWidth)
    const all = widths.reduce((sum, width) => sum + width, 0)
    setMeasured({ isNarrow, shares: widths.map((width) => (width / all) * 100) })
  }, [table, hasRows, isNarrow, shares])
  return shares
}

interface Heights {
  /** Of the first row that was measured; undefined: none was. */
  readonly usual: number | undefined
  /** Those of other heights. */
  readonly rows: VirtualItem[]
}

/** Heights of rows by list: who comes back finds the row where it was. */
const HEIGHTS = new Map<string, Heights>()
const MOST_LISTS = 20

function rememberHeights(name: string, heights: Heights): void {
  HEIGHTS.delete(name)
  HEIGHTS.set(name, heights)
  for (const oldest of HEIGHTS.keys()) if (HEIGHTS.size > MOST_LISTS) HEIGHTS.delete(oldest)
}
