import { element, shape } from './elements.js'
import { highest, lowest, print, roundUp } from './sums.js'

const MOST_DOTS = 60

/** Draws a line into the figure, with its numbers in a sentence and in a table below. */
export function showLine(figure, title, sums) {
  const top = highest(sums)
  const bottom = lowest(sums)
  const high = roundUp(top.value)
  const low = 0 - roundUp(-bottom.value)
  const points = sums.map(({ value }, index) => ({
    x: sums.length === 1 ? 50 : (index / (sums.length - 1)) * 100,
    y: high === low ? 100 : ((high - value) / (high - low)) * 100,
  }))

  figure.querySelector('figcaption').textContent =
    `${title}. From ${print(sums[0].value)} (${sums[0].label}) ` +
    `to ${print(sums.at(-1).value)} (${sums.at(-1).label}). ` +
    `Highest: ${top.label}. Lowest: ${bottom.label}.`

  // A line of no length with a round end is a dot, and stays round when the drawing is stretched.
  const dots = points.map(({ x, y }) => `M${x} ${y}h0`).join('')
  figure
    .querySelector('svg')
    .replaceChildren(
      shape('path', { class: 'grid', d: 'M0 0H100M0 50H100M0 100H100' }),
      shape('path', { d: `M${points.map(({ x, y }) => `${x} ${y}`).join('L')}` }),
      ...(points.length <= MOST_DOTS ? [shape('path', { class: 'dots', d: dots })] : []),
    )
  figure
    .querySelector('.scale')
    .replaceChildren(
      ...[high, (high + low) / 2, low].map((value) => element('li', {}, print(value))),
    )

  const [first, last] = figure.querySelectorAll('.ends span')
  first.textContent = sums[0].label
  last.textContent = sums.length > 1 ? sums.at(-1).label : ''

  figure
    .querySelector('tbody')
    .replaceChildren(
      ...sums.map(({ label, value }) =>
        element(
          'tr',
          {},
          element('th', { scope: 'row' }, label),
          element('td', { class: 'number' }, print(value)),
        ),
      ),
    )
}
