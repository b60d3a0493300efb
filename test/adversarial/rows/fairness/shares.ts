import type { Row } from '../../table.ts'

/** Shares of networks and accounts. */
export const SHARE_ROWS: readonly Row[] = [
  {
    id: 'F61',
    case: 'More networks than may wait guess the password of one email address once each: /64s of one IPv6 /56, then of one /48.',
    answer:
      'Where no network has more waiting than another, the /56 or the /48 with most loses one: the owner gets `200` from another /48, `before half of the guesses`.',
  },
  {
    id: 'F62',
    case: 'An account that is alone fills each queue of the process, then another account sends one request to each: pages, reads of streams, edits and clones, replays, writes, transfers.',
    answer:
      'Shares apply only while another account waits: the first has `every place`, and the other `the next place`.',
  },
]
