import { z } from 'zod'
import type { Operation } from './operation.ts'
import { queryFlagOff } from './query-values.ts'

const dry_run = queryFlagOff.meta({
  override: { default: false },
  description: 'Only return the price; do nothing. Default false.',
})

const format = z.enum(['json', 'csv']).optional().meta({
  description: 'Format of the page. Default json.',
})

/** Schema of the query: the declared parameters, and those of other kinds of responses. */
export function querySchema({
  input,
  quote,
  csv,
}: Pick<Operation, 'input' | 'quote' | 'csv'>): z.ZodObject | undefined {
  if (quote === undefined && csv === undefined) return input.query
  return (input.query ?? z.strictObject({})).extend({
    ...(quote === undefined ? {} : { dry_run }),
    ...(csv === undefined ? {} : { format }),
  })
}
