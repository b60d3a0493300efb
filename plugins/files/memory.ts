import { declareArguments } from '../../lib/internal/arguments.ts'
import type { FileProcessor } from './contract.ts'
import { MAX_BATCH, MAX_CHUNKS, fileError } from './contract.ts'
import type { Segment } from './chunk.ts'
import { chunkSegments } from './chunk.ts'
import { decodeText, markdownSegments, textSegments } from './text.ts'
import { untilAborted } from '../../lib/internal/until-aborted.ts'

const TYPES: Readonly<Record<string, (text: string) => readonly Segment[]>> = {
  'text/plain': textSegments,
  'text/markdown': markdownSegments,
}

function typeOf(name: string): string | undefined {
  if (name.endsWith('.md')) return 'text/markdown'
  return name.endsWith('.txt') ? 'text/plain' : undefined
}

const readProcessor = declareArguments('createMemoryFileProcessor', {})

/**
 * The shortest processor that meets the contract: plain text and Markdown, in this process. It holds the whole
 * file in memory, so it is for tests and trusted files.
 */
export function createMemoryFileProcessor(...args: readonly []): FileProcessor {
  readProcessor(args)
  const closing = new AbortController()
  return {
    reads: [
      { media_type: 'text/plain', label: 'text' },
      { media_type: 'text/markdown', label: 'markdown' },
    ],
    sniff: typeOf,

    async process({ name, open }, { signal, stage, take }) {
      const until = AbortSignal.any([signal, closing.signal])
      const content_type = typeOf(name)
      const segmentsOf = TYPES[content_type ?? '']
      if (content_type === undefined || segmentsOf === undefined) {
        throw fileError('unsupported_media_type')
      }
      until.throwIfAborted()
      const parts: Uint8Array[] = []
      stage('extract', 0, null)
      for await (const part of untilAborted(open(), until)) parts.push(part)
      const bytes = Buffer.concat(parts)
      if (bytes.length === 0) throw fileError('empty_file')
      const text = decodeText(bytes)
      const chunks = [...chunkSegments(segmentsOf(text))]
      if (chunks.length === 0) throw fileError('no_text')
      if (chunks.length > MAX_CHUNKS) throw fileError('too_large_inside')
      for (let at = 0; at < chunks.length; at += MAX_BATCH) {
        stage('chunk', at, chunks.length)
        await take(chunks.slice(at, at + MAX_BATCH))
        until.throwIfAborted()
      }
      return { content_type, chunks: chunks.length, characters: text.length }
    },

    async close() {
      closing.abort(fileError('processor_failed', { internal: 'closed' }))
    },
  }
}
