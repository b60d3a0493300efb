import type { Row } from '../table.ts'

type Line = readonly [id: string, what: string, answer: string]

const LINES: readonly Line[] = [
  [
    'D01',
    'a name is public when it is registered and private when it is sent to',
    '`201`; the attempt is `refused_address`, no connection',
  ],
  [
    'D02',
    'a name answers otherwise at its second look-up',
    'there is one look-up: what is judged is what is connected to, `200`',
  ],
  [
    'D03',
    'a name moves while a connection to where it was is open',
    'within 5 s `refused_address`, the open connection is not used',
  ],
  [
    'D04',
    'a receiver redirects to an internal address',
    'not followed: `http_status`, nothing of the answer kept',
  ],
  [
    'D05',
    'a receiver redirects to another permitted one',
    'not followed, so no other host sees the signature: `301`, `302`, `303`, `307`, `308`',
  ],
  [
    'D06',
    'proxies in the environment, in both cases, from the start of the process',
    'a direct connection: `200`, the proxy sees nothing',
  ],
  [
    'D07',
    'a permitted address where nobody answers, and a forbidden one behind it',
    '`refused_address` before any connection',
  ],
  [
    'D08',
    'a name that stands for a name that stands for a name with a private address',
    '`refused_address`',
  ],
  ['D09', 'a look-up that answers at once', 'the same verdict: `refused_address`, or `200`'],
  ['D10', 'a name that a search domain alone resolves', '`dns`: it is asked for as it is'],
  [
    'D11',
    'a name server that does not answer',
    '`timeout` within the attempt’s own; files and password hashing go on beside',
  ],
  [
    'D12',
    'a name with 200 addresses',
    '`too_many_answers` above 16; up to there each one is judged',
  ],
  [
    'D13',
    'the service’s own address, by literal, by name, and by every address of the machine',
    '`400 url_not_public`, `own_listener`, whatever the operator lists',
  ],
  [
    'D14',
    'a webhook is moved to a private address by PATCH',
    '`400 url_not_public`, and it stays where it was',
  ],
  [
    'D15',
    'a test event, an automatic retry, a retry by hand',
    '`202`; every connection is the egress client’s',
  ],
  [
    'D16',
    'certificates: self-signed, expired, for another name',
    '`tls`, and no byte of the request is sent',
  ],
]

export const ATTEMPT_ROWS: readonly Row[] = LINES.map(([id, what, answer]) => ({
  id,
  case: what,
  answer,
}))
