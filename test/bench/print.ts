/**
 * Prints the JSON of runs as two documents: `node dist/test/bench/print.js results.json`. All values go into
 * results.md beside this file, one table for each run; the judged ones into docs/benchmarks.md. Both replace
 * what follows the heading of results. A figure is printed from the last run that measured it.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { formatted } from '../support/formatted.ts'
import { printGoal } from './figure.ts'
import { FIGURES } from './figures/index.ts'
import type { FailedFigure, MeasuredFigure, Report, Spread } from './report.ts'

const PAGE = fileURLToPath(new URL('../../../docs/benchmarks.md', import.meta.url))
const DETAILS = fileURLToPath(new URL('../../../test/bench/results.md', import.meta.url))
const HEADING = '## Results\n'

function printNumber(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 4 })
}

function printSpread({ median, min, max }: Spread): string {
  return `${printNumber(median)} (${printNumber(min)} to ${printNumber(max)})`
}

function isMeasured(figure: MeasuredFigure | FailedFigure): figure is MeasuredFigure {
  return 'values' in figure
}

/** The values that a figure is judged by, or the others. */
function printValues(figure: MeasuredFigure, judged: boolean): string {
  const names = new Set(['ratio', ...figure.goals.map(({ value }) => value)])
  return Object.entries(figure.values)
    .filter(([name]) => names.has(name) === judged)
    .map(([name, spread]) => `${name} ${printSpread(spread)}`)
    .join('; ')
}

function printTitle({ title, baseline }: MeasuredFigure | FailedFigure): string {
  return baseline === null ? title : `${title}; compared with ${baseline}`
}

function rowOf(figure: MeasuredFigure | FailedFigure): string {
  const cells = [figure.name, printTitle(figure), figure.goals.map(printGoal).join('; ')]
  if (!isMeasured(figure)) return row([...cells, `not measured: ${figure.error}`, '', 'no'])
  const met = figure.goals.length === 0 ? '' : figure.met ? 'yes' : 'no'
  return row([...cells, printValues(figure, true), printValues(figure, false), met])
}

/** The first value that is not judged, such as events per second beside a ratio. */
function printAbsolute(figure: MeasuredFigure): string {
  return printValues(figure, false).split(' (', 1)[0] ?? ''
}

/** The table of docs/benchmarks.md, in the order of `FIGURES`. */
function summaryOf(reports: readonly Report[]): string {
  const order = FIGURES.map(({ name }) => name)
  const rows = reports
    .flatMap(({ commit, figures }) =>
      figures.filter(isMeasured).map((figure) => ({ commit, figure })),
    )
    .toSorted((a, b) => order.indexOf(a.figure.name) - order.indexOf(b.figure.name))
    .map(({ commit, figure }) =>
      row([
        printTitle(figure),
        figure.goals.map(printGoal).join('; '),
        printValues(figure, true),
        printAbsolute(figure),
        figure.goals.length === 0 ? '' : figure.met ? 'yes' : 'no',
        String(figure.n),
        commit,
      ]),
    )
  return [
    row(['figure', 'goal', 'median (min to max)', 'absolute', 'met', 'n', 'commit']),
    row(Array.from({ length: 7 }, () => '---')),
    ...rows,
    '',
  ].join('\n')
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

function printReport(report: Report): string {
  const { commit, node, cpus, rounds, seconds, backlog, connections, payload_bytes } = report
  const versions = Object.entries(report.versions).map(([name, version]) => `${name} ${version}`)
  const notes = [...new Set(report.figures.flatMap((figure) => figure.notes))]
  return [
    `Commit ${commit}, Node ${node}, ${cpus.count} cores of ${cpus.model}; ${versions.join(', ')}.`,
    `${rounds} rounds of ${seconds} s, a backlog of ${printNumber(backlog)}, ${connections} connections,`,
    `${payload_bytes} bytes a request; median (min to max).`,
    '',
    row(['name', 'figure', 'goal', 'judged', 'other values', 'met']),
    row(['---', '---', '---', '---', '---', '---']),
    ...report.figures.map(rowOf),
    '',
    ...notes.map((note) => `- ${note}`),
    '',
  ].join('\n')
}

/** Leaves out what a later run measured again. */
function latest(reports: readonly Report[]): readonly Report[] {
  return reports.map((report, index) => {
    const later = new Set(
      reports.slice(index + 1).flatMap(({ figures }) => figures.map(({ name }) => name)),
    )
    return { ...report, figures: report.figures.filter(({ name }) => !later.has(name)) }
  })
}

const files = process.argv.slice(2)
if (files.length === 0) throw new Error('name the files that hold the JSON of runs')
const reports = await Promise.all(
  files.map(async (file) => JSON.parse(await readFile(file, 'utf8')) as Report),
)
await replaceResults(DETAILS, latest(reports).map(printReport).join('\n'))
await replaceResults(PAGE, summaryOf(latest(reports)))

async function replaceResults(file: string, results: string): Promise<void> {
  const [head = ''] = (await readFile(file, 'utf8')).split(HEADING, 1)
  const text = `${head}${HEADING}\n${results}`
  await writeFile(file, await formatted(file, text))
}
