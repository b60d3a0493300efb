/**
 * Puts the JSON of runs into docs/benchmarks.md, in place of what stands below its heading of results:
 * `node dist/test/bench/print.js results.json`. Of several runs each has a table of its own, and a figure
 * stands in that of the last which measured it.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import * as prettier from 'prettier'
import { printGoal } from './figure.ts'
import type { FailedFigure, MeasuredFigure, Report, Spread } from './report.ts'

const PAGE = fileURLToPath(new URL('../../../docs/benchmarks.md', import.meta.url))
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

function rowOf(figure: MeasuredFigure | FailedFigure): string {
  const baseline = figure.baseline === null ? '' : `; beside ${figure.baseline}`
  const cells = [`${figure.title}${baseline}`, figure.goals.map(printGoal).join('; ')]
  if (!isMeasured(figure)) return row([...cells, `not measured: ${figure.error}`, '', 'no'])
  const met = figure.goals.length === 0 ? '' : figure.met ? 'yes' : 'no'
  const judged = new Set(['ratio', ...figure.goals.map(({ value }) => value)])
  const print = (isJudged: boolean): string =>
    Object.entries(figure.values)
      .filter(([name]) => judged.has(name) === isJudged)
      .map(([name, spread]) => `${name} ${printSpread(spread)}`)
      .join('; ')
  return row([...cells, print(true), print(false), met])
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
    row(['figure', 'goal', 'measured', 'absolute', 'met']),
    row(['---', '---', '---', '---', '---']),
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
const page = await readFile(PAGE, 'utf8')
const head = page.split(HEADING, 1)[0] ?? ''
const options = await prettier.resolveConfig(PAGE)
await writeFile(
  PAGE,
  await prettier.format(head + HEADING + latest(reports).map(printReport).join('\n'), {
    ...options,
    filepath: PAGE,
  }),
)
