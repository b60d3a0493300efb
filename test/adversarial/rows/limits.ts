import type { Section } from '../table.ts'

const LINES: readonly (readonly [id: string, what: string, answer: string])[] = [
  [
    'B01',
    'every operation is sent the largest body that it refuses: one byte too many, unknown fields, wrong items',
    'a 4xx of at most 64 KiB with at most 50 errors: `refused`',
  ],
  [
    'B02',
    'every operation that reads is asked for its widest answer, over wide records',
    'a page holds at most 2 MiB beside its last record: `bounded`',
  ],
  [
    'B03',
    'ten accounts ask every operation that reads, over 2 connections each and 20 for the widest page, and take no answer',
    'the process stays below 400 MB, another account is `served`',
  ],
  [
    'B04',
    'every operation is called with 99 keys of one account at once',
    'another account is `served`',
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
