/** A value of a table; null is an empty cell. */
export type Cell = string | number | boolean | null

/** A table as RFC 4180 describes it, with a header. */
export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

/**
 * Prints a table as CSV.
 *
 * @example
 * printCsv({ columns: ['id', 'note'], rows: [[1, '=1+1'], [2, null]] }) // "id,note\r\n1,'=1+1\r\n2,\r\n"
 */
export function printCsv({ columns, rows }: Table): string {
  return [columns, ...rows].map((row) => `${row.map(printCell).join(',')}\r\n`).join('')
}

/** First characters that make a spreadsheet read a text as a formula, unless it is a number. */
const FORMULA = /^(?!-\d+(\.\d+)?$)[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

function printCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
