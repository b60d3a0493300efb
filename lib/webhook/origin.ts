import type { Creator } from '../key/record.ts'
import type { Instant } from '../time.ts'
import type { WebhookPart, WebhookRecord } from './record.ts'
import { WEBHOOK_PARTS } from './record.ts'

/** Who last set parts of a webhook, and which key set each. */
export type Origin = Pick<WebhookRecord, 'set_by' | 'set_at' | 'set_keys'>

/** The origin of a new webhook: its creator set every part. */
export function createdOrigin(by: Creator, at: Instant): Origin {
  return { set_by: by, set_at: at, set_keys: keysOf(by, WEBHOOK_PARTS) }
}

/** The origin after somebody set some parts. */
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

/** The parts that changes of a webhook name. */
export function partsIn(changes: object): readonly WebhookPart[] {
  return WEBHOOK_PARTS.filter((part) => part in changes)
}
