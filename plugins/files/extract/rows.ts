import type { Segment } from '../chunk.ts'
import { TARGET } from '../chunk.ts'
import { fileError } from '../contract.ts'
import type { ExtractLimits } from './command.ts'

/** Groups of rows of about a chunk; the first row is repeated before every later group. */
export async function* rowSegments(
  rows: Iterable<readonly string[]> | AsyncIterable<readonly string[]>,
  heading: string | null,
  { row: maxRow }: Pick<ExtractLimits, 'row'>,
): AsyncGenerator<Segment> {
  let header: string | undefined
  let repeat = ''
  let text = ''
  for await (const row of rows) {
    const line = lineOf(row)
    if (line.length > maxRow) throw fileError('too_complex', { internal: 'a row is too long' })
    if (line === '') continue
    if (text !== '' && text.length + line.length + repeat.length > TARGET) {
      yield { text, heading, page: null, repeat }
      text = ''
      repeat = `${header ?? ''}\n`
    }
    header ??= line
    text += `${line}\n`
  }
  if (text !== '') yield { text, heading, page: null, repeat }
}

function lineOf(cells: readonly string[]): string {
  if (cells.every((cell) => cell.trim() === '')) return ''
  return cells.map((cell) => cell.replace(/\s+/g, ' ').trim()).join(' | ')
}
