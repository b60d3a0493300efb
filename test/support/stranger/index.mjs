/**
 * A file processor as somebody else would write it, with nothing but the published package at hand: it
 * takes plain text and cuts it into pieces of a thousand characters.
 */
import { MAX_BATCH, fileError } from 'keyhook/plugins/files'

const TYPE = 'text/x-stranger'
const PIECE = 1000

export function createFileProcessor() {
  const closing = new AbortController()
  const sniff = (name) => (name.endsWith('.txt') ? TYPE : undefined)
  return {
    sniff,
    async process({ name, open }, { signal, stage, take }) {
      const until = AbortSignal.any([signal, closing.signal])
      until.throwIfAborted()
      if (sniff(name) === undefined) throw fileError('unsupported_media_type')
      stage('extract', 0, null)
      const bytes = await readAll(open(), until)
      if (bytes.length === 0) throw fileError('empty_file')
      const text = new TextDecoder().decode(bytes).replaceAll('\0', '\ufffd')
      const chunks = piecesOf(text).map((piece, ordinal) => ({
        ...piece,
        ordinal,
        heading: 'Read by a stranger',
        page: null,
      }))
      if (chunks.length === 0) throw fileError('no_text')
      for (let at = 0; at < chunks.length; at += MAX_BATCH) {
        stage('chunk', at, chunks.length)
        await take(chunks.slice(at, at + MAX_BATCH))
        until.throwIfAborted()
      }
      return { content_type: TYPE, chunks: chunks.length, characters: text.length }
    },
    async close() {
      closing.abort(fileError('processor_failed'))
    },
  }
}

/** Every byte, unless the signal comes first: the bytes may hang. */
async function readAll(bytes, signal) {
  const aborted = new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  aborted.catch(() => undefined)
  const reader = bytes[Symbol.asyncIterator]()
  const parts = []
  for (;;) {
    const { done, value } = await Promise.race([reader.next(), aborted])
    if (done) return Buffer.concat(parts)
    parts.push(value)
  }
}

/** Cut after a sentence or a line where there is one, and never within a character. */
function piecesOf(text) {
  const pieces = []
  for (let start = 0; start < text.length;) {
    const end = endFrom(text, start)
    const piece = text.slice(start, end)
    if (piece.trim() !== '') pieces.push({ text: piece, start, end })
    start = end
  }
  return pieces
}

function endFrom(text, start) {
  const most = start + PIECE
  if (most >= text.length) return text.length
  const at = Math.max(text.lastIndexOf('. ', most - 2) + 1, text.lastIndexOf('\n', most - 1)) + 1
  if (at > start + 1) return at
  return text.codePointAt(most - 1) > 0xffff ? most - 1 : most
}
