import { z } from 'zod'
import { BLANK, NUL } from './patterns.ts'

const NOT_BLANK = new RegExp(`^[${BLANK}]*[^${BLANK}\\u0000][^\\u0000]*$`)
const WITHOUT_NUL = new RegExp(`^[^${NUL}]*$`)

/** Text to store: without NUL, and not only white space. */
export function text(max: number): z.ZodString {
  return z.string().min(1).max(max).regex(NOT_BLANK, 'Must not be blank, nor contain U+0000.')
}

/** Text to store, which may be blank or empty. */
export function anyText(max?: number): z.ZodString {
  const string = max === undefined ? z.string() : z.string().max(max)
  return string.regex(WITHOUT_NUL, 'Must not contain U+0000.')
}
