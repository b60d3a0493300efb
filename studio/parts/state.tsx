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
  pending: ['Waiting', 'wait', 'waiting'],
  delivering: ['Being sent', 'wait', 'waiting'],
  succeeded: ['Delivered', 'good', 'done'],
  exhausted: ['Failed', 'bad', 'failed'],
  blocked: ['Refused address', 'bad', 'stopped'],
  skipped: ['Skipped', 'quiet', 'stopped'],
  canceled: ['Canceled', 'quiet', 'stopped'],
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
