import type { Row } from '../../table.ts'

/** Writes and clones. */
export const WRITE_ROWS: readonly Row[] = [
  {
    id: 'F44',
    case: 'One account sends forty writes at once, half of them with an Idempotency-Key, and another account sends one.',
    answer:
      'Units of work wait by account and take turns: the other is served `among the first four`.',
  },
  {
    id: 'F45',
    case: 'Two thousand writes of one account wait, which is all that may, and it sends one more; then another account sends one.',
    answer:
      '`429 rate_limited`, and another to the newest of the account when the other arrives; `200 to another account`.',
  },
  {
    id: 'F46',
    case: 'A client sends a write and disconnects while the write waits for its turn.',
    answer: 'Its body is released, and its unit of work is `not begun`.',
  },
  {
    id: 'F47',
    case: 'Clones whose alias is taken while they copy, that are twins under one Idempotency-Key, or whose client disconnects.',
    answer:
      'Their files are deleted as soon as they cannot be recorded: `201` and `409 alias_taken`, and `nothing is left`.',
  },
  {
    id: 'F48',
    case: 'An account whose limit is 15 writes a minute clones an app over and over that holds the same 5 MiB twice.',
    answer:
      'Content is copied once, and each MiB of it costs a write: `2 times 201`, then `429 rate_limited` with `0 bytes copied`.',
  },
  {
    id: 'F49',
    case: 'An account clones an app and archives the clone, over and over; twenty clones race for the last place.',
    answer:
      'Archived apps count until they are deleted, 400 apps in all: `1 times 201` and `19 times 409 app_limit_reached`; `nothing is left` of those refused. An archived app can be restored, `200`; once one is deleted, a new one is made, `201`.',
  },
  {
    id: 'F50',
    case: 'An account sends a clone five times under one Idempotency-Key; the turns of the others begin once the first is recorded.',
    answer: 'The files are copied and paid for once: `1 copy`, `5 times 201`, `4 replayed`.',
  },
  {
    id: 'F51',
    case: 'An account creates ten apps at once, each from a prompt with files.',
    answer: 'Files are taken in for `2 apps at a time`, in the queue of edits: `10 times 202`.',
  },
  {
    id: 'F52',
    case: 'A caller repeats a replay under its Idempotency-Key while the first one still runs, after more than a minute.',
    answer: '`409 idempotency_in_progress`; the work is `done once`.',
  },
  {
    id: 'F53',
    case: 'An account rotates the secret of a webhook 2,400 times without an overlap, then five times with one.',
    answer:
      'A rotation deletes the secrets that ended, so that the webhook has `1 kept` and its reads and rotations cost `no more rows` than after the first: `201`. Five sign at most, `5 kept`, then `409 secret_limit_reached`, whose message names overlap_seconds 0; once the overlap is over, `201` and `2 kept`.',
  },
]
