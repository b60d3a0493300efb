import type { Section } from '../table.ts'
import { ACCOUNT_ROWS } from './fairness/accounts.ts'
import { EDIT_ROWS } from './fairness/edits.ts'
import { EVENT_ROWS } from './fairness/events.ts'
import { FOLLOW_ROWS } from './fairness/following.ts'
import { NETWORK_ROWS } from './fairness/networks.ts'
import { PUBLISH_ROWS } from './fairness/publishing.ts'
import { SHARE_ROWS } from './fairness/shares.ts'
import { WRITE_ROWS } from './fairness/writes.ts'

const ROWS = [
  ...NETWORK_ROWS,
  ...ACCOUNT_ROWS,
  ...EDIT_ROWS,
  ...EVENT_ROWS,
  ...WRITE_ROWS,
  ...PUBLISH_ROWS,
  ...FOLLOW_ROWS,
  ...SHARE_ROWS,
]

export const FAIRNESS: Section = {
  letter: 'F',
  title:
    'Connections, shares of accounts, sign-in, edits, large bodies and pages, replays, publishing, filters, writes, clones, streams',
  size: ROWS.length,
  rows: ROWS,
}
