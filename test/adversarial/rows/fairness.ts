import type { Row, Section } from '../table.ts'

const CONNECTION_ROWS: readonly Row[] = [
  {
    id: 'F01',
    case: 'One address sends 700 half requests to each listener of a daemon that may open 512 files.',
    answer:
      'Another network gets `200 from the API` and `404 from the apps listener`, a webhook is delivered, and the control socket answers.',
  },
  {
    id: 'F02',
    case: 'One network holds every connection of a listener, all with a request in progress.',
    answer:
      'Its newest connections give way: `200 to each other network` until all have equal shares.',
  },
  {
    id: 'F03',
    case: 'A network at its own limit, with a request in progress on each connection, opens one more.',
    answer: 'It is `closed`; `200 to another network`.',
  },
  {
    id: 'F04',
    case: 'A network fills its limit with half requests that never end.',
    answer:
      'A new connection takes the place of the one that was idle for longest: `200`, with `Connection: close` while the limit is mostly used.',
  },
  {
    id: 'F05',
    case: 'A client keeps an idle connection for 90 seconds, as Go does by default, and sends a request.',
    answer: 'Both listeners keep idle connections for `95 s` and announce it in Keep-Alive.',
  },
  {
    id: 'F06',
    case: 'Sixty clients reuse a kept connection just before, at and after the time that was announced.',
    answer: 'It is closed a second later than announced: `0 lost`.',
  },
  {
    id: 'F07',
    case: 'A client reuses a kept connection while the daemon stops.',
    answer: 'It is answered once more, with `close` in Connection, and the connection ends.',
  },
  {
    id: 'F08',
    case: 'The daemon stops while a request is in progress.',
    answer: 'It ends with its own response, `200` with `close` in Connection.',
  },
]

const SIGN_IN_ROWS: readonly Row[] = [
  {
    id: 'F09',
    case: 'Three networks guess passwords without end, thirty at once each, while the owner signs in from another.',
    answer: 'Password hashing serves the networks in turn: `25 of 25` sign-ins.',
  },
  {
    id: 'F10',
    case: 'Ten networks flood sign-in, for the address of the owner and for unknown ones.',
    answer: 'The owner signs in from elsewhere: `50 of 50`.',
  },
  {
    id: 'F11',
    case: 'Thirty addresses of one IPv6 /64 guess the password of one email address.',
    answer:
      'They are one network: `5 times 401 invalid_credentials`, then `25 times 429 rate_limited`; the owner gets `200` from another /64.',
  },
  {
    id: 'F12',
    case: 'One network guesses once for each of forty email addresses.',
    answer:
      '`30 times 401 invalid_credentials`, then `10 times 429 rate_limited`; another network gets `200`.',
  },
  {
    id: 'F13',
    case: 'Twenty networks guess the password of one email address at once, and another user signs in.',
    answer:
      'Hashes for one address run one at a time, so the user is served `before half of the guesses`.',
  },
  {
    id: 'F14',
    case: 'Somebody with a session guesses its password through step-up instead of sign-in.',
    answer:
      'Both count together: after five failures `429 to a step-up` and `429 rate_limited to a sign-in`; `200 from another network`.',
  },
]

const ACCOUNT_ROWS: readonly Row[] = [
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

const EDIT_ROWS: readonly Row[] = [
  {
    id: 'F22',
    case: 'An edit has seven patches of a 9 MiB file, and at the end the delete of a file that does not exist.',
    answer:
      'Everything that needs no content is judged first: `400 patch_not_applied`, and the file is `read 0 times`.',
  },
  {
    id: 'F23',
    case: 'Two accounts send twenty edits each at once, and a third account sends one.',
    answer:
      'Edits of one account are applied one at a time, and accounts take turns: the third is served `before the third of either`.',
  },
  {
    id: 'F24',
    case: 'Fifty edits of one account wait, and it sends one more.',
    answer: '`429 rate_limited`; `201 to another account`, which does not wait for them.',
  },
  {
    id: 'F25',
    case: 'A client sends an edit and disconnects while the edit waits for its turn.',
    answer: 'Its body is released at once, and the edit is `not begun`.',
  },
  {
    id: 'F26',
    case: 'An edit patches 200 files, another patches a 9 MiB file, and a third changes an app of 10,000 files that lie eleven folders deep.',
    answer:
      'The event loop is given back `after every patch`, `after every 256 KiB` of a file and `after every 64 paths`.',
  },
]

const LARGE_ROWS: readonly Row[] = [
  {
    id: 'F27',
    case: 'Two accounts ask for thirty pages of events each at once, and three other accounts for one each.',
    answer:
      'Pages of large records are read and printed `4 at once`, and accounts take turns: the last one is served `among the first ten`.',
  },
  {
    id: 'F28',
    case: 'Twenty large bodies of one account end at the same moment.',
    answer: 'Bodies over 256 KiB are parsed `1 in each iteration` of the event loop.',
  },
  {
    id: 'F29',
    case: 'A client sends a large body and disconnects while the body waits to be parsed.',
    answer: 'Its bytes are released at once, and it is `not parsed`.',
  },
]

const WAITING_ROWS: readonly Row[] = [
  {
    id: 'F30',
    case: 'A client sends an edit five times at once with one Idempotency-Key, and then its revert in the same way.',
    answer:
      'Each is done once, though the twins wait for their turn: `5 times 201` and `4 replayed` for the edit, `5 times 201` and `4 replayed` for the revert; the app is at `revision 3`.',
  },
  {
    id: 'F31',
    case: 'The edits of one account hold all bytes of bodies, one is applied and the others wait; another account sends a body of 1 MiB.',
    answer:
      'The newest edit that waits gives way and is never begun, `429 too_many_bytes`; `201 to the other account`, and `201 to the edits that stay`.',
  },
  {
    id: 'F32',
    case: 'An account with one app of many files asks for ten clones of it at once.',
    answer: 'Its files are copied for `1 clone at a time`: `10 times 201`.',
  },
]

const REPLAY_ROWS: readonly Row[] = [
  {
    id: 'F33',
    case: 'One account asks for eleven replays at once and then for one more, and another account asks for one.',
    answer:
      'Replays of an account run `one at a time`, and ten wait: `429 rate_limited` to the twelfth, `202 to another account`.',
  },
  {
    id: 'F34',
    case: 'A client asks for a dry run of a replay of many events and disconnects.',
    answer: 'The replay reads no further: it `ends`.',
  },
]

const PUBLISHING_ROWS: readonly Row[] = [
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
]

const SEARCH_ROWS: readonly Row[] = [
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
    answer: 'Pages of an account are read `1 at a time`: `200 to another account`.',
  },
]

const WRITE_ROWS: readonly Row[] = [
  {
    id: 'F44',
    case: 'One account sends forty writes at once, half of them with an Idempotency-Key, and another account sends one.',
    answer:
      'Units of work wait by account and take turns: the other is served `among the first four`.',
  },
  {
    id: 'F45',
    case: 'Five hundred writes of one account wait, and it sends one more.',
    answer: '`429 rate_limited`; `200 to another account`.',
  },
  {
    id: 'F46',
    case: 'A client sends a write and disconnects while the write waits for its turn.',
    answer: 'Its body is released, and its unit of work is `not begun`.',
  },
]

const CLONE_ROWS: readonly Row[] = [
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
]

const ROWS = [
  ...CONNECTION_ROWS,
  ...SIGN_IN_ROWS,
  ...ACCOUNT_ROWS,
  ...EDIT_ROWS,
  ...LARGE_ROWS,
  ...WAITING_ROWS,
  ...REPLAY_ROWS,
  ...PUBLISHING_ROWS,
  ...SEARCH_ROWS,
  ...WRITE_ROWS,
  ...CLONE_ROWS,
]

export const FAIRNESS: Section = {
  letter: 'F',
  title:
    'Connections, shares of accounts, sign-in, edits, large bodies and pages, replays, publishing, filters, writes, clones',
  size: ROWS.length,
  rows: ROWS,
}
