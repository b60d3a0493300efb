import type { Row } from '../../table.ts'

/** Connections, and sign-in. */
export const NETWORK_ROWS: readonly Row[] = [
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
  {
    id: 'F09',
    case: 'Three networks guess passwords without end, thirty at once each, while the owner signs in from another.',
    answer: 'Password hashing serves the networks in turn: the owner signs in `every time`.',
  },
  {
    id: 'F10',
    case: 'Ten networks flood sign-in, for the address of the owner and for unknown ones.',
    answer: 'The owner signs in from elsewhere, `every time`.',
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
    case: 'Twenty addresses of one network guess the password of one email address at once; its owner and another user sign in from elsewhere.',
    answer:
      'Nothing waits by email address, and networks take turns by their /16 and /24 too: `200 to the owner` and `200 to another user`, `before half of the guesses`.',
  },
  {
    id: 'F14',
    case: 'Somebody with a session guesses its password through step-up instead of sign-in.',
    answer:
      'Both count together: after five failures `429 to a step-up` and `429 rate_limited to a sign-in`; `200 from another network`.',
  },
]
