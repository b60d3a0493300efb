import { Suspense, lazy } from 'react'
import type { HostingUsage } from '../api/client.ts'

/** Apart from the page, so that its numbers do not wait for what draws them. */
const Chart = lazy(() => import('../parts/chart.tsx'))

type Daily = HostingUsage['daily']
type Meter = HostingUsage['meters'][number]['meter']

const SPLIT = [
  ['published', 'Published', '--accent-text'],
  ['preview', 'Preview', '--control-line'],
] as const

/** A meter by day, split into the published app and its previews: as columns, and as a table. */
export function UsageChart({
  name,
  meter,
  daily,
  print,
}: {
  readonly name: string
  readonly meter: Meter
  readonly daily: Daily
  readonly print: (value: number) => string
}) {
  const label = `${name} by day`
  return (
    <figure className="usage-chart" aria-label={label}>
      <figcaption className="legend">
        {SPLIT.map(([part, word]) => (
          <span key={part} data-part={part}>
            {word}
          </span>
        ))}
      </figcaption>
      <Suspense fallback={<div className="chart" />}>
        <Chart
          label={`${label}: ${summaryOf(meter, daily, print)}`}
          days={daily.map(({ date }) => Date.parse(date) / 1000)}
          series={SPLIT.map(([part, word, color]) => ({
            name: word,
            color,
            values: daily.map((day) => day[part][meter]),
          }))}
          print={print}
        />
      </Suspense>
      <details>
        <summary>As a table</summary>
        <table className="table" aria-label={label}>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {SPLIT.map(([part, word]) => (
                <th key={part} scope="col" className="number">
                  {word}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {daily.map((day) => (
              <tr key={day.date}>
                <td>{day.date}</td>
                {SPLIT.map(([part]) => (
                  <td key={part} className="number">
                    {print(day[part][meter])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}

function summaryOf(meter: Meter, daily: Daily, print: (value: number) => string): string {
  const most = daily.map(({ published, preview }) => published[meter] + preview[meter])
  return `at most ${print(Math.max(0, ...most))} in a day`
}
