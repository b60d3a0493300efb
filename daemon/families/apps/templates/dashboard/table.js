import { element } from './elements.js'
import { print } from './sums.js'

const MOST_ROWS = 200
const collator = new Intl.Collator(undefined, { numeric: true })

/** Shows the rows, with a button in each heading that sorts by it. */
export function showTable(table, { columns, rows }, say) {
  let sortedBy = null
  let isDescending = false

  const headings = columns.map((column) => {
    const button = element('button', { type: 'button' }, column.name)
    button.addEventListener('click', () => {
      isDescending = sortedBy === column && !isDescending
      sortedBy = column
      show()
      say(`Sorted by ${column.name}, ${isDescending ? 'descending' : 'ascending'}.`)
    })
    return element('th', { scope: 'col', ...classOf(column) }, button)
  })
  table.querySelector('thead tr').replaceChildren(...headings)

  function show() {
    const shown = sortRows(rows, sortedBy, isDescending).slice(0, MOST_ROWS)
    for (const column of columns) {
      const state = isDescending ? 'descending' : 'ascending'
      if (column === sortedBy) headings[column.index].setAttribute('aria-sort', state)
      else headings[column.index].removeAttribute('aria-sort')
    }
    table.caption.textContent =
      shown.length < rows.length
        ? `The first ${shown.length} of ${rows.length} rows in this order. A heading sorts by its column.`
        : 'A heading sorts by its column.'
    table.tBodies[0].replaceChildren(
      ...shown.map((row) =>
        element(
          'tr',
          {},
          ...columns.map((column) =>
            element(
              'td',
              classOf(column),
              column.isNumber ? print(row[column.index]) : row[column.index],
            ),
          ),
        ),
      ),
    )
  }
  show()
}

const classOf = ({ isNumber }) => (isNumber ? { class: 'number' } : {})

/** The rows in the order of a column. Empty values come last either way. */
export function sortRows(rows, column, isDescending) {
  if (column === null) return rows
  const isEmpty = (value) => value === null || value === ''
  const compare = column.isNumber ? (a, b) => a - b : collator.compare
  return [...rows].sort((one, other) => {
    const a = one[column.index]
    const b = other[column.index]
    if (isEmpty(a) || isEmpty(b)) return isEmpty(a) - isEmpty(b)
    return isDescending ? compare(b, a) : compare(a, b)
  })
}
