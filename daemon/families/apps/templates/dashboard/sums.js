const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 })

/** A number as people write it. */
export const print = (value) => (value === null ? '' : numbers.format(value))

/** What a row counts for: its number in the column, or 1 when there is no column. */
export const valueOf = (row, column) => (column ? (row[column.index] ?? 0) : 1)

/** One sum for each different label, in the order of the rows. */
export function sumBy(rows, labels, values) {
  const sums = new Map()
  for (const row of rows) {
    const label = String(row[labels.index] ?? '') || 'empty'
    sums.set(label, (sums.get(label) ?? 0) + valueOf(row, values))
  }
  return [...sums].map(([label, value]) => ({ label, value }))
}

export const highest = (sums) => sums.reduce((best, one) => (one.value > best.value ? one : best))
export const lowest = (sums) => sums.reduce((best, one) => (one.value < best.value ? one : best))

/** A round number that is not below the value, for the end of a scale. */
export function roundUp(value) {
  if (value <= 0) return 0
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) * power
}
