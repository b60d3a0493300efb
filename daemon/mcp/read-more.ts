import { z } from 'zod'
import { agentError } from '../agents/errors.ts'
import { withoutWaiting } from '../agents/tools.ts'
import { READS } from '../operations/operation.ts'
import { callOnce, viaOf } from './mcp-call.ts'
import { requestOf } from './call-tool.ts'
import { READ_HINTS, ownTool } from './own-tool.ts'
import { MAX_CURSOR, digestOf, invalidCursor, partOf, printCursor, readCursor } from './read-on.ts'
import { toOwnAnswer } from './results.ts'

/** Reads the next part of a result that was too large for one message. */
export const READ_MORE = ownTool({
  name: 'read_more',
  title: 'Read on in a large result',
  description:
    'Read the next part of a result that was too large, by the cursor of the part before it.',
  annotations: READ_HINTS,
  input: z.strictObject({
    cursor: z.string().min(1).max(MAX_CURSOR).meta({ description: 'cursor of the part before.' }),
  }),
  output: z.strictObject({
    text: z.string().meta({ description: 'Next part of the JSON text of the result.' }),
    next_cursor: z.string().nullable().meta({ description: 'Null: this was the last part.' }),
    bytes: z.int().meta({ description: 'Bytes of the whole result.' }),
  }),
  async run(call, { cursor }, { envelope }) {
    const { tool: name, given, offset, digest } = readCursor(cursor)
    const tool = call.selection.reach.get(name)
    if (tool === undefined || !READS.has(tool.operation.effect)) throw invalidCursor()
    // A part is read at once, whatever is written in the cursor.
    const request = requestOf(call, withoutWaiting(tool), given, viaOf(call, envelope))
    const { text } = await callOnce(call, request)
    if (digestOf(text) !== digest) throw agentError('result_changed')
    const part = partOf(text, offset)
    const next = part.next === undefined ? undefined : { tool: name, given, offset: part.next }
    return toOwnAnswer({
      text: part.text,
      next_cursor: next === undefined ? null : (printCursor({ ...next, digest }) ?? null),
      bytes: part.bytes,
    })
  },
})
