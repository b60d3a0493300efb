import { z } from 'zod'
import type { GivenOperation } from '../../trees/apply.ts'
import { ONE_CONTENT, fileContent, hasOneContent, path, toWrite } from '../apps/given-file.ts'
import { NUL, anyText, exactlyOne } from '../wire.ts'

const MAX_OPERATIONS = 500

/** The only key with a fixed set of values: with any other it is refused. */
const NOT_OBSERVED = {
  required: ['key', 'value'],
  properties: { key: { const: 'observe' }, value: { not: { enum: ['on', 'off', null] } } },
} as const

const operation = z
  .discriminatedUnion('op', [
    z
      .strictObject({ op: z.literal('write'), ...fileContent })
      .refine(hasOneContent, ONE_CONTENT)
      .meta({ id: 'WriteOperation', ...exactlyOne('content', 'content_base64') }),
    z
      .strictObject({
        op: z.literal('patch'),
        path,
        search: anyText().meta({ description: 'Text that occurs exactly once in the file.' }),
        replace: anyText().meta({ description: 'Replacement, inserted literally.' }),
      })
      .meta({ id: 'PatchOperation' }),
    z
      .strictObject({ op: z.literal('rename'), from: path, to: path })
      .meta({ id: 'RenameOperation' }),
    z.strictObject({ op: z.literal('delete'), path }).meta({ id: 'DeleteOperation' }),
    z
      .strictObject({
        op: z.literal('set_config'),
        key: anyText(200).meta({ pattern: '^[A-Za-z0-9_.-]{1,100}$' }),
        value: anyText(10_000)
          .meta({ pattern: `^[^${NUL}]*$`, maxLength: 4000 })
          .nullable()
          .meta({ description: 'Value; null removes the key.' }),
      })
      .meta({ id: 'SetConfigOperation', not: NOT_OBSERVED }),
  ])
  .meta({ id: 'EditOperation' })

export const operations = z
  .array(operation)
  .min(1)
  .max(MAX_OPERATIONS)
  .meta({ description: 'Operations, applied in order, all or none.' })

/** The operation to apply. */
export function toOperation(given: z.output<typeof operation>): GivenOperation {
  return given.op === 'write' ? toWrite(given) : given
}
