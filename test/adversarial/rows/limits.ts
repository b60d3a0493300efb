import type { Section } from '../table.ts'

const LINES: readonly (readonly [id: string, what: string, answer: string])[] = [
  [
    'B01',
    'every operation (in CI half of them, drawn anew) is sent the largest body that it refuses: one byte too many, unknown fields, wrong items, arrays in arrays',
    'a 4xx of at most 64 KiB with at most 50 errors; bytes and memory stay within their limits: `refused`',
  ],
  [
    'B02',
    'every operation that reads is asked for its widest answer, over records whose fields are as wide as operations take them',
    'a page holds at most 2 MiB beside its last record: `bounded`',
  ],
  [
    'B03',
    'ten accounts call every operation (in CI half of them), those of the operator, of sessions and of everybody too, over 2 connections each and 20 for the widest page, and take no answer',
    'what responses and bodies hold stays within its limits and is given back; the process stays below 400 MB beside password hashing, another account is `served`',
  ],
  [
    'B04',
    'every operation (in CI half of them) is called with 99 keys of one account at once',
    'bytes and memory stay within their limits, another account is `served`',
  ],
  [
    'B05',
    'every member of a body that takes any JSON is sent 300 KiB of it',
    '`refused`: each has a limit of bytes that is far below that of the body',
  ],
]

export const LIMITS: Section = {
  letter: 'B',
  title: 'Every operation, at its limits',
  size: 5,
  rows: LINES.map(([id, what, answer]) => ({ id, case: what, answer })),
}
