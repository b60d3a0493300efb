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

export const FAIRNESS: Section = {
  letter: 'F',
  title: 'Connections, shares of accounts, sign-in',
  size: CONNECTION_ROWS.length,
  rows: CONNECTION_ROWS,
}
