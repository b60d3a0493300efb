import type { Row } from '../../table.ts'

/** Edits, and large bodies and pages. */
export const EDIT_ROWS: readonly Row[] = [
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
      'Accounts take turns, and edits of one app are applied one at a time: the third is served `before the third of either`.',
  },
  {
    id: 'F24',
    case: 'Two hundred edits of one app wait, which is all that may, and its account sends one more.',
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
  {
    id: 'F30',
    case: 'A client sends an edit five times at once with one Idempotency-Key, and then its revert in the same way.',
    answer:
      'Each is done once, though the twins wait for their turn: `5 times 201` and `4 replayed` for the edit, `5 times 201` and `4 replayed` for the revert; the app is at `revision 3`.',
  },
  {
    id: 'F31',
    case: 'Three edits of one account hold all bytes of bodies, two are applied and the last waits; another account sends a body of 1 MiB.',
    answer:
      'The newest edit that waits gives way and is never begun, `429 too_many_bytes`; `201 to the other account`, and `201 to the edits that stay`.',
  },
  {
    id: 'F32',
    case: 'An account with one app of many files asks for ten clones of it at once.',
    answer: 'The files of one app are copied for `1 clone at a time`: `10 times 201`.',
  },
]
