import type { Statement } from './failpoint-table.ts'
import type { WorkFailpoint } from './work-failpoints.ts'
import { around, beside, commitOf } from './work-failpoints.ts'

const QUEUED = /^INSERT INTO keyhook_deployments /
const CLAIMED = /^UPDATE keyhook_deployments SET poised = 0/
const BUILT = /^UPDATE keyhook_deployments SET status = 'deploying'/
const POISED = /^UPDATE keyhook_deployments SET poised = 1/
const SWITCHED = /^UPDATE keyhook_deployments SET live_at = /
const SUPERSEDED = /^UPDATE keyhook_deployments SET status = 'superseded'/
const LIVE = /^UPDATE keyhook_deployments SET status = 'live'/
const SITE = /^UPDATE keyhook_sites SET deployment_id = /
const ANNOUNCED = /^UPDATE keyhook_deployments SET announced = 1/
const FAILED = /^UPDATE keyhook_deployments SET status = \S+ ended_at = .* AND claim = /
const CANCELED = /^UPDATE keyhook_deployments SET status = \S+ ended_at = .* AND status = 'queued'/
const ASKED_TO_STOP = /^UPDATE keyhook_jobs SET cancel_at = COALESCE/

const after = (name: string, at: Statement): WorkFailpoint => ({ name, at, when: 'after' })

const during = (name: string, within: RegExp): WorkFailpoint => ({
  name,
  at: commitOf(within),
  when: 'during',
})

/** What is being done, once it is noted. */
const told = (name: string, step: RegExp): WorkFailpoint =>
  after(name, { sql: /^UPDATE keyhook_jobs SET lease_until/, bind: step })

/** Each commit from the request to the event of whatever goes live. */
const COMMITS = {
  queue: QUEUED,
  claim: CLAIMED,
  built: BUILT,
  poised: POISED,
  switch: SWITCHED,
  event: ANNOUNCED,
} as const

/** Before each of them and after, and once it is told that all is looked through. */
function toTheEvent(kind: 'publish' | 'rollback'): readonly WorkFailpoint[] {
  return [
    ...Object.entries(COMMITS).flatMap(([name, within]) => beside(`${kind}.${name}`, within)),
    told(`${kind}.activating.told`, /activating/),
  ]
}

/** By what is asked of the daemon. */
export const DEPLOY_FAILPOINTS = {
  publish: [
    ...toTheEvent('publish'),
    { name: 'publish.built.bytes_kept', at: { sql: BUILT }, when: 'before' },
    during('publish.switch.in_commit', SWITCHED),
    during('publish.event.in_commit', ANNOUNCED),
    after('publish.switch.chosen', { sql: SWITCHED }),
    after('publish.switch.superseded', { sql: SUPERSEDED, within: SWITCHED }),
    after('publish.switch.live', { sql: LIVE }),
    after('publish.switch.site', { sql: SITE }),
    after('publish.event.mid', { sql: ANNOUNCED }),
  ],
  'long publish': [told('publish.building.told', /building/)],
  rollback: toTheEvent('rollback'),
  unpublish: [
    after('unpublish.superseded', { sql: SUPERSEDED }),
    after('unpublish.added', { sql: QUEUED, within: SUPERSEDED }),
    after('unpublish.site', { sql: SITE }),
    ...around('unpublish', SUPERSEDED),
  ],
  'bad publish': [after('failing.mid', { sql: FAILED }), ...beside('failing', FAILED)],
  'cancel building': [
    ...beside('cancel.asked', ASKED_TO_STOP),
    after('cancel.building.mid', { sql: FAILED }),
    ...beside('cancel.building', FAILED),
  ],
  'cancel queued': [
    after('cancel.queued.mid', { sql: CANCELED }),
    ...beside('cancel.queued', CANCELED),
  ],
} as const satisfies Readonly<Record<string, readonly WorkFailpoint[]>>

export type Doing = keyof typeof DEPLOY_FAILPOINTS
