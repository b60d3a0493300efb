/**
 * The program of the child: one document on its standard input, its chunks as lines of JSON on
 * descriptor 3, and then it ends. What it is given as arguments is the content type and the limits.
 */
import { writeSync } from 'node:fs'
import { KeyhookError } from '../../../lib/errors.ts'
import type { Segment } from '../chunk.ts'
import { chunkSegments } from '../chunk.ts'
import type { FileErrorCode } from '../contract.ts'
import { MAX_CHUNKS, fileError } from '../contract.ts'
import { wellFormed } from '../text.ts'
import type { Extract } from './formats.ts'
import { FORMATS } from './formats.ts'
import type { ExtractLimits } from './limits.ts'
import type { Message } from './messages.ts'
import { forbidNetwork } from './network.ts'

const RESULTS = 3

/** Waits until the parent has taken it: nothing piles up here or there. */
function send(message: Message): void {
  const line = Buffer.from(`${JSON.stringify(message)}\n`)
  for (let at = 0; at < line.length;) at += writeSync(RESULTS, line, at)
}

async function readInput(): Promise<Uint8Array> {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin) pieces.push(piece as Buffer)
  // A copy that is its own: a library may take over the memory below it.
  return new Uint8Array(Buffer.concat(pieces))
}

async function extractAll(
  extract: Extract,
  bytes: Uint8Array,
  limits: ExtractLimits,
): Promise<readonly Segment[]> {
  const segments: Segment[] = []
  let characters = 0
  const progress = (done: number, total: number): void => {
    send({ stage: ['extract', done, total] })
  }
  for await (const segment of await extract(bytes, limits, progress)) {
    characters += segment.text.length
    if (characters > limits.characters) throw fileError('too_large_inside')
    const { heading, repeat } = segment
    segments.push({
      ...segment,
      text: wellFormed(segment.text),
      heading: heading === null ? null : wellFormed(heading),
      ...(repeat === undefined ? {} : { repeat: wellFormed(repeat) }),
    })
  }
  return segments
}

function codeOf(error: unknown): FileErrorCode {
  if (error instanceof KeyhookError) return error.code as FileErrorCode
  if (!(error instanceof RangeError)) return 'damaged'
  return error.message.includes('call stack') ? 'too_complex' : 'out_of_memory'
}

async function run(type: string, limits: ExtractLimits): Promise<void> {
  forbidNetwork()
  const extract = await FORMATS[type]?.()
  if (extract === undefined) throw new Error(`no format ${type}`)
  const bytes = await readInput()
  send({ stage: ['extract', 0, null] })
  try {
    const segments = await extractAll(extract, bytes, limits)
    const chunks = [...chunkSegments(segments)]
    if (chunks.length === 0) throw fileError('no_text')
    if (chunks.length > MAX_CHUNKS) throw fileError('too_large_inside')
    send({ stage: ['chunk', 0, chunks.length] })
    for (const chunk of chunks) send({ chunk })
    send({ stage: ['chunk', chunks.length, chunks.length] })
    send({ characters: segments.reduce((sum, { text }) => sum + text.length, 0) })
  } catch (error) {
    send({ failed: codeOf(error), internal: String(error).slice(0, 500) })
  }
}

const [type = '', limits = '{}'] = process.argv.slice(2)
await run(type, JSON.parse(limits) as ExtractLimits)
// Whatever a library left open is not waited for.
process.exit(0)
