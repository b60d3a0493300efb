import { element, shape } from './elements.js'
import { print } from './sums.js'

const MOST_BARS = 12

/** Draws bars into a table: it is readable without the bars, so it needs no other text. */
export function showBars(table, title, sums) {
  const bars = [...sums].sort((a, b) => b.value - a.value).slice(0, MOST_BARS)
  const low = Math.min(0, ...bars.map(({ value }) => value))
  const high = Math.max(0, ...bars.map(({ value }) => value))
  const share = (value) => (high === low ? 0 : ((value - low) / (high - low)) * 100)

  table.caption.textContent =
    bars.length < sums.length
      ? `${title}: the ${bars.length} highest of ${sums.length}.`
      : `${title}. Highest: ${bars[0].label}.`
  table.tBodies[0].replaceChildren(
    ...bars.map(({ label, value }) => {
      const from = share(Math.min(0, value))
      const bar = shape('rect', {
        x: `${from}%`,
        width: `${share(Math.max(0, value)) - from}%`,
        height: '100%',
        rx: 4,
      })
      return element(
        'tr',
        {},
        element('th', { scope: 'row' }, label),
        element('td', {}, shape('svg', { 'aria-hidden': 'true' }, bar)),
        element('td', { class: 'number' }, print(value)),
      )
    }),
  )
}
