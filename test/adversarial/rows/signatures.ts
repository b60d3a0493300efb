import type { Row } from '../table.ts'

type Line = readonly [id: string, what: string, answer: string]

const LINES: readonly Line[] = [
  [
    'V01',
    'a delivery as it was signed',
    '`verified`, in our form and in that of Standard Webhooks; `body_malformed` where what was signed is no event',
  ],
  [
    'V02',
    'a body of which one byte changed, or that was parsed and printed anew',
    '`signature_mismatch`',
  ],
  ['V03', 'a changed id', '`signature_mismatch`; one with a dot `header_malformed`'],
  ['V04', 'a changed timestamp', '`signature_mismatch`'],
  ['V05', 'an empty signature', '`signature_mismatch`'],
  ['V06', 'a version without a signature, parts that are none', '`header_malformed`'],
  ['V07', 'a signature that is cut, longer, or written otherwise', '`signature_mismatch`'],
  [
    'V08',
    'signatures of other versions alone',
    '`signature_mismatch`; beside a good one `verified`',
  ],
  ['V09', 'a bad signature before or behind the good one', '`verified`'],
  ['V10', 'more than 16 signatures', '`too_many_signatures`, however good; 16 are `verified`'],
  ['V11', 'signed 301 seconds ago', '`timestamp_outside_tolerance`'],
  ['V12', 'signed 301 seconds ahead', '`timestamp_outside_tolerance`'],
  ['V13', 'signed 299 or 300 seconds away', '`verified`'],
  ['V14', 'a timestamp that is not plain digits', '`header_malformed`'],
  [
    'V15',
    'a header is missing, or a part of it',
    '`header_missing`, `header_malformed`, `signature_mismatch`',
  ],
  ['V16', 'a header sent twice: as a list, joined, in two spellings', '`header_malformed`'],
  [
    'V17',
    'a secret that is empty, short, long, cut, or has a line break',
    '`secret_malformed`, before anything is compared',
  ],
  [
    'V18',
    'two bodies that are one as text and two as bytes',
    'the signed one holds, and is no event, `body_malformed`; the other `signature_mismatch`',
  ],
  [
    'V19',
    'a body with a byte order mark, none, one of 10 MiB',
    '`verified`, for bytes are signed; what is no event `body_malformed`, and a mark that was added `signature_mismatch`',
  ],
  [
    'V20',
    'a parsed object in place of the body',
    '`body_not_raw`, whose message says what to pass',
  ],
  [
    'V21',
    'a secret is being rotated',
    'signed by a live one `verified`; by one that was dropped `signature_mismatch`',
  ],
  [
    'V22',
    'a delivery is captured and sent again',
    'within the tolerance `verified` again, with the same id: the receiver drops what it has seen; `timestamp_outside_tolerance` later',
  ],
  ['V23', 'headers in any case, in every usual object', '`verified`'],
  ['V24', 'data with the keys `__proto__` and `constructor`', '`verified`, no prototype changes'],
  [
    'V25',
    'a signature guessed piece by piece, by the time of the answer',
    '`signature_mismatch`, after one comparison in constant time by Web Crypto, whatever was right',
  ],
  [
    'V26',
    'a custom header whose value breaks the line, or is no Latin-1',
    '`refused` when it is stored; `protocol` and unsent, were it there',
  ],
  [
    'V27',
    'a custom header that is ours, of the framing or of the connection',
    '`refused` when it is stored; what frames the request `protocol` and unsent',
  ],
]

export const SIGNATURE_ROWS: readonly Row[] = LINES.map(([id, what, answer]) => ({
  id,
  case: what,
  answer,
}))
