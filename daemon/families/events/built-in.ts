import type { BuiltInEvent } from '../../events/types.ts'
import { IDENTIFIERS } from '../../events/types.ts'

const APP = 'a_3fJ9kQ2x'
const FILE = '01890a5d-ac96-774b-bcce-b302099a8058'
const DEPLOYMENT = '01890a5d-ac96-774b-bcce-b302099a8059'

/** Specified events whose families may not be served; webhooks may name them anyway. */
export const SPECIFIED_EVENTS: readonly BuiltInEvent[] = [
  {
    type: 'app.deployed',
    scope: IDENTIFIERS,
    description: 'A production deploy finishes successfully.',
    sample: { app_id: APP, deployment_id: DEPLOYMENT, release: 4, url: 'https://shop.example.com' },
  },
  {
    type: 'app.unpublished',
    scope: IDENTIFIERS,
    description: 'An app is taken offline.',
    sample: { app_id: APP, deployment_id: DEPLOYMENT, reason: 'request' },
  },
  {
    type: 'app.rolled_back',
    scope: IDENTIFIERS,
    description: 'A rollback completes.',
    sample: { app_id: APP, deployment_id: DEPLOYMENT, release: 5, restored_from: 3 },
  },
  {
    type: 'file.processed',
    scope: IDENTIFIERS,
    description: 'A knowledge-base file finishes processing.',
    sample: { app_id: APP, file_id: FILE, chunks: 12 },
  },
  {
    type: 'file.failed',
    scope: IDENTIFIERS,
    description: 'A knowledge-base file fails processing.',
    sample: { app_id: APP, file_id: FILE, error: { code: 'unreadable' } },
  },
]
