import type { Creator } from '../key/record.ts'
import type { Instant } from '../time.ts'
import type { WebhookPart, WebhookRecord } from './record.ts'
import { WEBHOOK_PARTS } from './record.ts'

/** Who last set a part of a webhook, and the key that last set each part. */
export type Origin = Pick<WebhookRecord, 'set_by' | 'set_at' | 'set_keys'>

/** The origin of a new webhook, whose creator set every part. */
export function createdOrigin(by: Creator, at: Instant): Origin {
  return { set_by: by, set_at: at, set_keys: keysOf(by, WEBHOOK_PARTS) }
}

/** The origin after a change of some parts; unchanged for none. */
export function setParts(
  { set_by, set_at, set_keys }: Origin,
  parts: readonly WebhookPart[],
  by: Creator,
  at: Instant,
): Origin {
  if (parts.length === 0) return { set_by, set_at, set_keys }
  return { set_by: by, set_at: at, set_keys: { ...set_keys, ...keysOf(by, parts) } }
}

function keysOf<Part extends WebhookPart>(
  by: Creator,
  parts: readonly Part[],
): Readonly<Record<Part, string | null>> {
  const key = by.type === 'key' ? by.id : null
  return Object.fromEntries(parts.map((part) => [part, key])) as Record<Part, string | null>
}

/** The parts among the changed fields of a webhook. */
export function partsIn(changes: object): readonly WebhookPart[] {
  return WEBHOOK_PARTS.filter((part) => part in changes)
}
