import { FUNCTION, NAME, declareArguments, listOf, recordOf } from '../../lib/internal/arguments.ts'
import { untilAborted } from '../../lib/internal/until-aborted.ts'
import type { FileProcessor, FileType } from './contract.ts'
import { fileError } from './contract.ts'
import { prepend, readHead } from './head.ts'

const READS = listOf(recordOf({ media_type: NAME, label: NAME }))

const readReaders = declareArguments('combineReaders', {
  readers: listOf(
    recordOf({
      reads: { ...READS, allowed: 'a list of { media_type, label }' },
      sniff: FUNCTION,
      process: FUNCTION,
      close: FUNCTION,
    }),
  ),
})

/**
 * Several readers as one: a file is processed by the first that detects a media type which it reads. What none
 * of them reads, the last one refuses.
 *
 * @example
 * const processor = combineReaders([createEpubReader(), createBuiltInReader()])
 */
export function combineReaders(
  ...args: readonly [readers: readonly FileProcessor[]]
): FileProcessor {
  const [readers] = readReaders(args) as typeof args
  const closing = new AbortController()

  function choose(name: string, head: Uint8Array) {
    for (const reader of readers) {
      const type = reader.sniff(name, head)
      if (type !== undefined && reader.reads.some(({ media_type }) => media_type === type)) {
        return { reader, type }
      }
    }
    return undefined
  }

  return {
    reads: typesOf(readers),
    sniff: (name, head) => choose(name, head)?.type,

    async process(task, options) {
      const over = new AbortController()
      const signals = [options.signal, closing.signal, over.signal]
      const pieces = untilAborted(task.open(), AbortSignal.any(signals))
      try {
        const head = await readHead(pieces)
        const reader = choose(task.name, head)?.reader ?? readers.at(-1)
        if (reader === undefined) throw fileError('unsupported_media_type')
        return await reader.process({ ...task, open: () => prepend(head, pieces) }, options)
      } finally {
        // Ends the bytes, whether they wait to be read or hang.
        over.abort()
        pieces.return(undefined).catch(() => undefined)
      }
    },

    async close() {
      closing.abort(fileError('processor_failed', { internal: 'closed' }))
      const closed = await Promise.allSettled(readers.map((reader) => reader.close()))
      const failed = closed.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    },
  }
}

/** Each media type once, as of its first reader. */
function typesOf(readers: readonly FileProcessor[]): readonly FileType[] {
  const types = new Map<string, FileType>()
  for (const type of readers.flatMap(({ reads }) => reads)) {
    if (!types.has(type.media_type)) types.set(type.media_type, type)
  }
  return [...types.values()]
}
