import type { IconName } from './icon.tsx'
import { Icon } from './icon.tsx'

type Tone = 'good' | 'wait' | 'bad' | 'quiet'

/** States on the wire in words, with an icon: never by colour alone. */
const STATES: Readonly<Record<string, readonly [words: string, tone: Tone, icon: IconName]>> = {
  active: ['Active', 'good', 'done'],
  rotating: ['Rotating', 'wait', 'waiting'],
  expired: ['Expired', 'quiet', 'stopped'],
  revoked: ['Revoked', 'quiet', 'stopped'],
  failing: ['Failing', 'bad', 'failed'],
  disabled: ['Disabled', 'bad', 'stopped'],
  'tests only': ['Not started', 'wait', 'waiting'],
  pending: ['Waiting', 'wait', 'waiting'],
  delivering: ['Being sent', 'wait', 'waiting'],
  succeeded: ['Delivered', 'good', 'done'],
  exhausted: ['Failed', 'bad', 'failed'],
  blocked: ['Refused address', 'bad', 'stopped'],
  skipped: ['Skipped', 'quiet', 'stopped'],
  canceled: ['Canceled', 'quiet', 'stopped'],
  creating: ['Being made', 'wait', 'waiting'],
  failed: ['Failed', 'bad', 'failed'],
  archived: ['Archived', 'quiet', 'stopped'],
  never: ['Not published', 'quiet', 'waiting'],
  unpublished: ['Offline', 'quiet', 'stopped'],
  publishing: ['Being published', 'wait', 'waiting'],
  published: ['Published', 'good', 'done'],
  suspended: ['Suspended', 'bad', 'stopped'],
  queued: ['Queued', 'wait', 'waiting'],
  running: ['In progress', 'wait', 'waiting'],
  completed: ['Done', 'good', 'done'],
  building: ['Being built', 'wait', 'waiting'],
  deploying: ['Going live', 'wait', 'waiting'],
  live: ['Live', 'good', 'done'],
  superseded: ['Replaced', 'quiet', 'stopped'],
  processing: ['Being read', 'wait', 'waiting'],
  processed: ['Searchable', 'good', 'done'],
  'domain pending': ['No record found', 'wait', 'waiting'],
  'domain verifying': ['One record found', 'wait', 'waiting'],
  'domain verified': ['Leads to the app', 'good', 'done'],
  'domain failed': ['Not checked any more', 'bad', 'failed'],
  'invoice draft': ['Draft', 'quiet', 'waiting'],
  'invoice open': ['To be paid', 'wait', 'waiting'],
  'invoice paid': ['Paid', 'good', 'done'],
  'invoice void': ['Void', 'quiet', 'stopped'],
  'invoice uncollectible': ['Given up', 'bad', 'failed'],
  found: ['Found', 'good', 'done'],
  missing: ['Not found', 'wait', 'waiting'],
}

export function State({ of }: { readonly of: string }) {
  const [words, tone, icon] = STATES[of] ?? [of, 'quiet', 'waiting']
  return (
    <span className="state" data-tone={tone}>
      <Icon name={icon} />
      {words}
    </span>
  )
}
