import t from 'tap'
import { ACCOUNT_CHECKS } from '../adversarial/fairness/accounts.ts'
import { CLONE_CHECKS } from '../adversarial/fairness/clones.ts'
import { CONNECTION_CHECKS } from '../adversarial/fairness/connections.ts'
import { EDIT_CHECKS } from '../adversarial/fairness/edits.ts'
import { FOLLOW_CHECKS } from '../adversarial/fairness/following.ts'
import { KEEP_ALIVE_CHECKS } from '../adversarial/fairness/keep-alive.ts'
import { LARGE_CHECKS } from '../adversarial/fairness/large.ts'
import { MOUNT_CHECKS } from '../adversarial/fairness/mounts.ts'
import { PUBLISHING_CHECKS } from '../adversarial/fairness/publishing.ts'
import { REFUSAL_CHECKS } from '../adversarial/fairness/refusals.ts'
import { REPLAY_CHECKS } from '../adversarial/fairness/replays.ts'
import { SEARCH_CHECKS } from '../adversarial/fairness/searches.ts'
import { SECRET_CHECKS } from '../adversarial/fairness/secrets.ts'
import { SIGN_IN_CHECKS } from '../adversarial/fairness/sign-in.ts'
import { SIZE_CHECKS } from '../adversarial/fairness/sizes.ts'
import { TWIN_CHECKS } from '../adversarial/fairness/twins.ts'
import { WAITING_CHECKS } from '../adversarial/fairness/waiting.ts'
import { WRITE_CHECKS } from '../adversarial/fairness/writes.ts'
import { FAIRNESS } from '../adversarial/rows/fairness.ts'
import { runSection } from '../adversarial/run.ts'

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
