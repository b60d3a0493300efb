import { createHash } from 'node:crypto'
import { z } from 'zod'
import { defineFamily } from '../../daemon/operations/family.ts'
import { operation } from '../../daemon/operations/operation.ts'
import type { FilePart } from '../../daemon/operations/parts.ts'
import { KeyhookError, defineErrors } from '../../lib/errors.ts'

const MIB = 1_048_576

const boxError = defineErrors({ box_sealed: { status: 409, text: 'The box is sealed.' } })

const filled = z.strictObject({
  files: z.array(z.strictObject({ name: z.string(), size: z.int(), sha256: z.string() })),
  refused: z.array(z.strictObject({ name: z.string(), code: z.string() })),
  notes: z.array(z.string()),
})

/** What a test looks at, or holds up, while a box is filled. */
export interface Filling {
  /** Files that are being read. */
  reading: number
  /** Boxes that were filled, and committed. */
  committed: number
  /** Called with each chunk of a file, and waited for. */
  onChunk: (size: number) => Promise<void> | void
}

/** A family with an operation that takes files, made by each test for itself. */
export function createBoxes(limits: { readonly file?: number; readonly most?: number } = {}) {
  const { file = MIB, most = 3 } = limits
  const filling: Filling = { reading: 0, committed: 0, onChunk: () => undefined }

  const fillBox = operation({
    effect: 'own',
    id: 'boxes.fill',
    summary: 'Fill a box',
    method: 'POST',
    path: '/v1/boxes/{box_id}/fill',
    access: { scope: 'boxes:write', pinned: 'allowed' },
    agent: { toolset: 'boxes' },
    emits: ['boxes'],
    input: {
      params: z.strictObject({ box_id: z.string().max(20) }),
      parts: {
        file: { kind: 'file', description: 'What to put in.', least: 1, most, limit: file },
        note: { kind: 'text', description: 'To lay on top.', least: 0, most: 1, limit: 100 },
      },
    },
    output: filled,
    errors: ['box_sealed'],
    example: {
      params: { box_id: 'b1' },
      response: { files: [], refused: [], notes: [] },
    },
    command: 'box fill <file>',
    async run({ parts, unit }) {
      const files: z.input<typeof filled>['files'] = []
      const refused: z.input<typeof filled>['refused'] = []
      const notes: string[] = []
      for await (const part of parts) {
        if (part.kind === 'text') notes.push(part.text)
        else if (part.filename === 'ignored') continue
        else {
          const taken = await readFile(part, filling)
          if (typeof taken === 'string') refused.push({ name: part.filename, code: taken })
          else files.push(taken)
        }
      }
      await unit(async () => {
        filling.committed++
      })
      return { files, refused, notes }
    },
  })
  const family = defineFamily({
    name: 'boxes',
    scopes: { boxes: ['write'] },
    events: [],
    errors: boxError,
    operations: [fillBox],
  })
  return { family, filling, fillBox }
}

/** The file, or the code that stands against it alone. */
async function readFile(
  { filename, bytes }: FilePart,
  filling: Filling,
): Promise<z.input<typeof filled>['files'][number] | string> {
  const hash = createHash('sha256')
  let size = 0
  filling.reading++
  try {
    for await (const chunk of bytes) {
      await filling.onChunk(chunk.length)
      hash.update(chunk)
      size += chunk.length
    }
    return { name: filename, size, sha256: hash.digest('hex') }
  } catch (cause) {
    if (cause instanceof KeyhookError && cause.details?.['part'] === 'file') return cause.code
    throw cause
  } finally {
    filling.reading--
  }
}
