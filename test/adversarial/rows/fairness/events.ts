import type { Row } from '../../table.ts'

/** Replays, publishing and filters. */
export const EVENT_ROWS: readonly Row[] = [
  {
    id: 'F33',
    case: 'One account asks for as many replays as run and wait, and then for one more; another account asks for one.',
    answer:
      'While it is alone, it has `2 at once` and 200 wait: `429 rate_limited` to one more. The other account has `the next place`: `202 to another account`, and `429 rate_limited` to the newest that waited.',
  },
  {
    id: 'F34',
    case: 'A client asks for a dry run of a replay of many events and disconnects.',
    answer: 'The replay reads no further: it `ends`.',
  },
  {
    id: 'F35',
    case: 'Twenty calls of one account wait to be published, each of 600 deliveries, and another account publishes an event.',
    answer: 'Accounts take turns: its event is stored `in the next group`.',
  },
  {
    id: 'F36',
    case: 'While an event of account c is stored, accounts a and b publish 60 events to ten webhooks each, and c and d publish one event each.',
    answer:
      'Events and deliveries bound a group, and one call always fits: the groups are `c, a, b, d c`.',
  },
  {
    id: 'F37',
    case: 'While the disk stalls, one account has 64 MiB of events waiting, and another account publishes.',
    answer:
      'The newest calls of the account that has most give way, `rate_limited`; the event of the other account `waits`.',
  },
  {
    id: 'F38',
    case: 'A key lists the events of a type that only the oldest one has, behind 10,000 others.',
    answer:
      'A page looks at 10,000 events at most: `an empty page with has_more`, then `the event`.',
  },
  {
    id: 'F39',
    case: 'The same of the deliveries of a webhook, by type, by event and by status.',
    answer:
      '`an empty page with has_more`, then `the delivery`. Statuses of failures have an index and find it `at once`.',
  },
  {
    id: 'F40',
    case: 'The same of the audit log, by action.',
    answer: '`an empty page with has_more`, then `the entry`.',
  },
  {
    id: 'F41',
    case: 'A replay of a type of events that only the oldest one has, behind 10,000 others.',
    answer:
      'It looks at 10,000 events at a time and lets other reads in between: `2 steps` find `1 event`.',
  },
  {
    id: 'F42',
    case: 'A dry run of retry-failed over more than 10,000 failed deliveries.',
    answer: 'It counts 10,000 at a time: `2 steps` find `10001 deliveries`.',
  },
  {
    id: 'F43',
    case: 'One account asks for eight pages of events that take long to read, and another for one.',
    answer:
      'While it is alone, `4 at a time` are read for it; the other account has `the next place`: `200 to another account`.',
  },
]
