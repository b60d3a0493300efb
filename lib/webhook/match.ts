import type { WebhookRecord } from './record.ts'

/** Subscribes to every built-in type, including those of later releases. */
export const EVERY_BUILT_IN = '*'

const FAMILY_SUFFIX = '.*'
export const FAMILY = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){0,2}\.\*$/

/** Whether `*` includes a type. */
export type IsBuiltIn = (type: string) => boolean

/**
 * Whether a subscription names a family: one to three words joined by dots, and `.*`.
 *
 * @example
 * isFamily('order.*') // true
 * isFamily('*.paid') // false
 */
export function isFamily(subscription: string): boolean {
  return FAMILY.test(subscription)
}

/**
 * Whether a subscription includes an event type.
 *
 * A type includes itself, `order.*` every type below `order`, and `*` every built-in type.
 *
 * @example
 * subscribesTo('order.*', 'order.line.added', () => false) // true
 */
export function subscribesTo(subscription: string, type: string, isBuiltIn: IsBuiltIn): boolean {
  if (subscription === type) return true
  if (subscription === EVERY_BUILT_IN) return isBuiltIn(type)
  return subscription.endsWith(FAMILY_SUFFIX) && type.startsWith(subscription.slice(0, -1))
}

/** Whether a webhook receives an event: it subscribes to the type, and its app filter contains the app. */
export function matches(
  { events, apps }: Pick<WebhookRecord, 'events' | 'apps'>,
  { type, app_id }: { readonly type: string; readonly app_id: string | null },
  isBuiltIn: IsBuiltIn,
): boolean {
  return (
    (apps === null || (app_id !== null && apps.includes(app_id))) &&
    events.some((subscription) => subscribesTo(subscription, type, isBuiltIn))
  )
}
