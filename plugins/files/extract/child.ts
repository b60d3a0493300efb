/**
 * The program of the child process: reads one document on standard input and writes its chunks as lines of JSON
 * to descriptor 3. Its arguments are the content type and the limits.
 */
import { writeSync } from 'node:fs'
import { KeyhookError } from '../../../lib/errors.ts'
import { chunkSegments, type Segment } from '../chunk.ts'
import { fileError, type FileErrorCode, MAX_CHUNKS } from '../contract.ts'
import { wellFormed } from '../text.ts'
import { type Extract, FORMATS } from './formats.ts'
import type { ExtractLimits } from './command.ts'
import type { Message } from './messages.ts'

const RESULTS = 3

/** Blocks until the parent has read it, so that neither side buffers. */
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

/** The second wall: no library has a reason to connect, and a document is bytes that nothing resolves. */
function forbidNetwork(): void {
  const refuse = (): never => {
    throw new Error('a document is read without network')
  }
  const { Socket } = process.getBuiltinModule('node:net')
  Object.assign(Socket.prototype, { connect: refuse })
  Object.assign(process.getBuiltinModule('node:dgram').Socket.prototype, {
    bind: refuse,
    send: refuse,
  })
  Object.assign(process.getBuiltinModule('node:dns'), { lookup: refuse })
  Object.assign(globalThis, { fetch: refuse, WebSocket: refuse })
}

const [type = '', limits = '{}'] = process.argv.slice(2)
await run(type, JSON.parse(limits) as ExtractLimits)
// Whatever a library left open is not waited for.
process.exit(0)
