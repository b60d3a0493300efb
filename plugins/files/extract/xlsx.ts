import readSheets from 'read-excel-file/node'
import type { Segment } from '../chunk.ts'
import type { ExtractLimits } from './command.ts'
import { rowSegments } from './rows.ts'
import { repackOffice } from './zip.ts'

const MAIN = /spreadsheetml\.(sheet|template)\.main\+xml|excel\.(sheet|template)\.macroEnabled/i

export async function* xlsxSegments(
  bytes: Uint8Array,
  limits: ExtractLimits,
  progress: (done: number, total: number) => void,
): AsyncGenerator<Segment> {
  const sheets = await readSheets(repackOffice(bytes, MAIN, limits))
  for (const [index, { sheet, data }] of sheets.entries()) {
    progress(index, sheets.length)
    yield* rowSegments(
      data.map((row) => row.map(textOf)),
      sheet,
      limits,
    )
  }
}

function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  return cell instanceof Date ? dateOf(cell) : String(cell as string | number | boolean)
}

/** A spreadsheet's dates are instants without a zone; most have no time of the day. */
function dateOf(date: Date): string {
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('T00:00:00.000Z', '')
}
