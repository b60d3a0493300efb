import { kernelError } from '../../lib/errors.ts'
import type { Authority } from '../../lib/grant/authority.ts'
import { allows, requiredScope } from '../../lib/scope/cover.ts'
import { EVERY_BUILT_IN, isFamily, subscribesTo } from '../../lib/webhook/match.ts'
import { DECLARED, IDENTIFIERS } from './types.ts'
import type { Platform } from '../platform.ts'

type Types = Pick<Platform, 'eventTypes' | 'universe'>
type Scopes = Pick<Authority, 'scopes'>

/**
 * The scopes needed to receive a subscription: to an event type, a family such as `order.*`, or `*`. An
 * undeclared type needs the scope of a declared one, so that a refusal does not reveal which types exist.
 */
export function scopesToReceive(
  { eventTypes: { builtIn } }: Pick<Types, 'eventTypes'>,
  subscription: string,
): readonly string[] {
  const named = builtIn.get(subscription)
  if (named !== undefined) return [named.scope]
  if (subscription === EVERY_BUILT_IN) return [IDENTIFIERS]
  if (!isFamily(subscription)) return [DECLARED]
  // Types of any family may be declared later.
  const family = [...builtIn.values()].filter(({ type }) =>
    subscribesTo(subscription, type, () => false),
  )
  return [...new Set([DECLARED, ...family.map(({ scope }) => scope)])]
}

/** Whether an authority may receive the data of a subscription through any channel. */
export function mayReceive(platform: Types, { scopes }: Scopes, subscription: string): boolean {
  return scopesToReceive(platform, subscription).every((scope) =>
    allows(scopes, requiredScope(scope, platform.universe)),
  )
}

/** Types with data that an authority may not read: each has a scope of its own, which the authority lacks. */
export function unreadableTypes(platform: Types, authority: Scopes): readonly string[] {
  return [...platform.eventTypes.builtIn.values()]
    .filter(({ type, scope }) => scope !== IDENTIFIERS && !mayReceive(platform, authority, type))
    .map(({ type }) => type)
}

/**
 * Refuses an authority that may not receive all of these subscriptions.
 *
 * @param location location of the list in the request; undefined when the request does not contain it
 * @throws KeyhookError `insufficient_scope` naming the missing scopes
 */
export function requireReceivable(
  platform: Types,
  authority: Scopes,
  subscriptions: readonly string[],
  location?: string,
): void {
  const refused = subscriptions.filter((one) => !mayReceive(platform, authority, one))
  if (refused.length === 0) return
  const required = scopesOf(platform, subscriptions)
  const missing = required.filter(
    (scope) => !allows(authority.scopes, requiredScope(scope, platform.universe)),
  )
  throw kernelError('insufficient_scope', {
    message: `Receiving these events needs the scope ${missing.join(' and ')}.`,
    details: { required_scopes: required, missing_scopes: missing },
    errors:
      location === undefined
        ? []
        : refused.map((subscription) => ({
            location: `${location}[${subscriptions.indexOf(subscription)}]`,
            code: 'insufficient_scope',
            message: `${subscription} needs ${scopesOf(platform, [subscription]).join(' and ')}.`,
          })),
  })
}

/** The event types of an account that an authority may receive; null when it may receive all. */
export async function receivableTypes(
  platform: Types,
  authority: Scopes,
  accountId: string,
): Promise<readonly string[] | null> {
  const { builtIn, declared } = platform.eventTypes
  const isReceivable = (type: string): boolean => mayReceive(platform, authority, type)
  const readable = [...builtIn.keys()].filter(isReceivable)
  if (!allows(authority.scopes, requiredScope(DECLARED, platform.universe))) return readable
  return readable.length === builtIn.size ? null : [...readable, ...(await declared(accountId))]
}

function scopesOf(platform: Types, subscriptions: readonly string[]): readonly string[] {
  return [...new Set(subscriptions.flatMap((one) => scopesToReceive(platform, one)))].sort()
}
