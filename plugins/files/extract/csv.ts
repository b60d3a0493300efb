import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type { Segment } from '../chunk.ts'
import { fileError } from '../contract.ts'
import { decodeText } from '../text.ts'
import type { ExtractLimits } from './command.ts'
import { rowSegments } from './rows.ts'

const PIECE = 65_536
const DELIMITERS = [',', ';', '\t', '|'] as const

export function csvSegments(bytes: Uint8Array, limits: ExtractLimits): AsyncGenerator<Segment> {
  const text = decodeText(bytes)
  return rowSegments(rowsOf(text, delimiterOf(text), limits), null, limits)
}

export function tsvSegments(bytes: Uint8Array, limits: ExtractLimits): AsyncGenerator<Segment> {
  return rowSegments(rowsOf(decodeText(bytes), '\t', limits), null, limits)
}

async function* rowsOf(
  text: string,
  delimiter: string,
  limits: ExtractLimits,
): AsyncGenerator<readonly string[]> {
  const parser = parse({
    delimiter,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: limits.row,
  })
  const source = Readable.from(piecesOf(text))
  source.pipe(parser)
  try {
    for await (const row of parser) yield row as readonly string[]
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const long = error.code === 'CSV_MAX_RECORD_SIZE'
    throw fileError(long ? 'too_complex' : 'damaged', { cause: error })
  }
}

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += PIECE) yield text.slice(at, at + PIECE)
}

/** The one that the first line has most of, outside quotes. */
function delimiterOf(text: string): string {
  const line = (/^[^\r\n]{0,10000}/.exec(text)?.[0] ?? '').replace(/"[^"]*"/g, '')
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}
