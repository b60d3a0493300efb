import t from 'tap'
import { ACCOUNT_CHECKS } from './fairness/accounts.ts'
import { CLONE_CHECKS } from './fairness/clones.ts'
import { CONNECTION_CHECKS } from './fairness/connections.ts'
import { EDIT_CHECKS } from './fairness/edits.ts'
import { FOLLOW_CHECKS } from './fairness/following.ts'
import { KEEP_ALIVE_CHECKS } from './fairness/keep-alive.ts'
import { LARGE_CHECKS } from './fairness/large.ts'
import { MOUNT_CHECKS } from './fairness/mounts.ts'
import { PUBLISHING_CHECKS } from './fairness/publishing.ts'
import { REFUSAL_CHECKS } from './fairness/refusals.ts'
import { REPLAY_CHECKS } from './fairness/replays.ts'
import { SEARCH_CHECKS } from './fairness/searches.ts'
import { SECRET_CHECKS } from './fairness/secrets.ts'
import { SIGN_IN_CHECKS } from './fairness/sign-in.ts'
import { SIZE_CHECKS } from './fairness/sizes.ts'
import { TWIN_CHECKS } from './fairness/twins.ts'
import { WAITING_CHECKS } from './fairness/waiting.ts'
import { WRITE_CHECKS } from './fairness/writes.ts'
import { FAIRNESS } from './rows/fairness.ts'
import { runSection } from './run.ts'

await runSection(t, FAIRNESS, {
  ...CONNECTION_CHECKS,
  ...KEEP_ALIVE_CHECKS,
  ...SIGN_IN_CHECKS,
  ...ACCOUNT_CHECKS,
  ...MOUNT_CHECKS,
  ...SIZE_CHECKS,
  ...EDIT_CHECKS,
  ...LARGE_CHECKS,
  ...REPLAY_CHECKS,
  ...PUBLISHING_CHECKS,
  ...SEARCH_CHECKS,
  ...WAITING_CHECKS,
  ...WRITE_CHECKS,
  ...CLONE_CHECKS,
  ...TWIN_CHECKS,
  ...SECRET_CHECKS,
  ...REFUSAL_CHECKS,
  ...FOLLOW_CHECKS,
})
