import type { Row } from '../../table.ts'

/** Limits of an account. */
export const ACCOUNT_ROWS: readonly Row[] = [
  {
    id: 'F15',
    case: 'Three keys of one account write as fast as they can, where the limit of writes is 120 a minute.',
    answer:
      'The account has the limit, however many keys it mints: `120 writes`, then `429 rate_limited`; `201 to another account`.',
  },
  {
    id: 'F16',
    case: 'A hundred keys of one account open all 2,000 streams of the process.',
    answer:
      'Another account opens `20 streams`; the newest of the first account end with `too_many_streams`, and their clients resume.',
  },
  {
    id: 'F17',
    case: 'A caller that has used its limit makes 10,000 others appear, so that its bucket is forgotten and starts anew.',
    answer: 'The fullest buckets are forgotten first: it has `0 left`.',
  },
  {
    id: 'F18',
    case: 'An embedder mounts the API on two servers, and a key uses both in turn.',
    answer:
      'The limits are those of the process, not of a mount: `20 streams`, then `429 too_many_streams`; 60 reads a minute, then `429 rate_limited`.',
  },
  {
    id: 'F19',
    case: 'A key sends JSON bodies of 16 MiB as fast as the rate of requests allows.',
    answer:
      'A body counts one request for each MiB: `429 rate_limited`, with the time until all of them fit. One that is larger than the limit is read when nothing was used, `400 invalid_request`, and paid for afterwards.',
  },
  {
    id: 'F20',
    case: 'The same in chunks, without a length.',
    answer:
      'Each MiB counts as it comes in: `429 rate_limited` in the middle of the body, which keeps what it took. Retry-After and RateLimit say when the tokens up to the refused MiB are there.',
  },
  {
    id: 'F21',
    case: 'A key publishes batches of 8 MiB that hold millions of numbers instead of events.',
    answer:
      'Publishing counts each MiB beyond the first: `429 rate_limited`. Requests up to 1 MiB are not counted: `202`.',
  },
]
