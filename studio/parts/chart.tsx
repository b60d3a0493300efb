import 'uplot/dist/uPlot.min.css'
import { useMantineColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'

export interface Series {
  readonly name: string
  /** Token of the style sheet. */
  readonly color: string
  readonly values: readonly number[]
}

const HEIGHT = 200
/** Allowed distances of two labels of the axis, in days. */
const DAYS = [1, 2, 7, 14]
const AXIS_FONT = '12px system-ui, sans-serif'

/**
 * Columns over days, one series on top of the other. It draws on a canvas, which says nothing to who cannot see it:
 * whoever uses it gives the same as a table.
 */
export default function Chart({
  label,
  days,
  series,
  print,
}: {
  readonly label: string
  /** Seconds since 1970 of each day's start. */
  readonly days: readonly number[]
  /** From the bottom to the top. */
  readonly series: readonly Series[]
  readonly print: (value: number) => string
}) {
  const place = useRef<HTMLDivElement>(null)
  const { colorScheme } = useMantineColorScheme()
  useEffect(() => {
    const root = place.current
    if (root === null) return undefined
    const chart = draw(root, { days, series, print })
    const fit = new ResizeObserver(() => chart.setSize({ width: root.clientWidth, height: HEIGHT }))
    fit.observe(root)
    // The system's theme changes colours too, where the page follows it.
    const system = matchMedia('(prefers-color-scheme: dark)')
    const redraw = (): void => chart.redraw()
    system.addEventListener('change', redraw)
    return () => {
      system.removeEventListener('change', redraw)
      fit.disconnect()
      chart.destroy()
    }
    // Values that are equal draw the same, however often they are read.
  }, [JSON.stringify([days, series]), colorScheme])
  return <div ref={place} role="img" aria-label={label} className="chart" />
}

interface Drawn {
  readonly days: readonly number[]
  readonly series: readonly Series[]
  readonly print: (value: number) => string
}

function draw(root: HTMLElement, { days, series, print }: Drawn): uPlot {
  // A canvas knows no `light-dark()`: an element that has the colour says what it is now.
  const token = (name: string) => (): string => {
    root.style.color = `var(${name})`
    return getComputedStyle(root).color
  }
  const bars = uPlot.paths.bars?.({ size: [0.7, 24] })
  const stacked = stack(series.map(({ values }) => values))
  const axis = { stroke: token('--quiet'), font: AXIS_FONT, ticks: { show: false } }
  return new uPlot(
    {
      width: root.clientWidth,
      height: HEIGHT,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      cursor: { show: false },
      legend: { show: false },
      scales: {
        x: { range: (_, least, most) => [least - 43_200, most + 43_200] },
        y: { range: (_, __, most) => [0, Math.max(1, most)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          incrs: DAYS.map((count) => count * 86_400),
          values: (_, at) => at.map(dayOf),
        },
        {
          ...axis,
          size: 64,
          grid: { stroke: token('--line'), width: 1 },
          values: (_, at) => at.map((value) => (Number.isInteger(value) ? print(value) : '')),
        },
      ],
      series: [
        {},
        // The highest first: each covers what is below it.
        ...series
          .map(({ name, color }) => ({
            label: name,
            fill: token(color),
            ...(bars === undefined ? {} : { paths: bars }),
            points: { show: false },
          }))
          .toReversed(),
      ],
    },
    [[...days], ...stacked.toReversed()],
    root,
  )
}

/** Each series on top of those before it. */
function stack(series: readonly (readonly number[])[]): number[][] {
  const below: number[] = []
  return series.map((values) => values.map((value, at) => (below[at] = (below[at] ?? 0) + value)))
}

function dayOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(5, 10)
}
