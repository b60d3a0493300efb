import { kernelError } from '../../../lib/errors.ts'
import type { Authority } from '../../../lib/grant/authority.ts'
import { effectiveAuthority, withinPins } from '../../../lib/grant/authority.ts'
import { exceeds } from '../../../lib/grant/delegate.ts'
import { endOfChain } from '../../../lib/key/lifecycle.ts'
import { hashToken, mintToken } from '../../../lib/key/token.ts'
import type { KeySecret } from '../../../lib/key/lifecycle.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import type { Instant } from '../../../lib/time.ts'
import type { KeyReads } from '../../../plugins/store/contract/keys.ts'
import type { Call, WriteCall } from '../../operations/call.ts'
import type { Platform } from '../../platform.ts'
import { liveChain } from '../../authority/admission.ts'
import type { Principal } from '../../authority/principal.ts'
import { accountOf } from '../../authority/principal.ts'
import { budgetOf } from './budget.ts'
import { keyError } from './errors.ts'

/** Caller that changes keys, read in the unit of work: never from a cache. */
export interface Actor {
  readonly authority: Authority
  /** The acting key; undefined for a user, a session of the portal or the operator. */
  readonly key: KeyRecord | undefined
  /** The least monthly budget of the acting key and those above it; null for no limit. */
  readonly monthly_budget_micros: number | null
}

/**
 * Reads the acting key again in the unit of work, so that a key that was revoked or narrowed meanwhile
 * changes nothing.
 */
export async function loadActor(
  { principal, tx, now }: Pick<WriteCall, 'principal' | 'tx' | 'now'>,
  previous: 'refuse previous' | 'allow previous' = 'refuse previous',
): Promise<Actor> {
  if (principal.type !== 'key') {
    return { authority: principal.authority, key: undefined, monthly_budget_micros: null }
  }
  const chain = await liveChain(tx, principal.account_id, principal.key.id, now)
  const key = chain.at(-1)
  const replaced = principal.secret === 'previous' || key?.version !== principal.key.version
  if (replaced && previous === 'refuse previous') throw kernelError('previous_value_restricted')
  return { authority: authorityOf(chain), key, monthly_budget_micros: budgetOf(chain) }
}

/** A key's effective authority along its chain, root first. */
export function authorityOf(chain: readonly KeyRecord[]): Authority {
  return effectiveAuthority(
    chain.map(({ scopes, pins, expires_at }) => ({ scopes, pins, expires_at })),
  )
}

/** Finds a key that the principal may read; a pinned key reads those within its own pins. */
export async function findKey(
  { platform, principal }: Pick<Call, 'platform' | 'principal'>,
  keys: KeyReads,
  id: string,
): Promise<KeyRecord> {
  const key = await keys.get(accountOf(principal), id)
  if (key === undefined || !isVisible(key, principal)) throw keyError('key_not_found')
  return withLastUse(platform, key)
}

/** Uses are written in groups: adds those of this process that are not written yet. */
export function withLastUse({ verifier }: Pick<Platform, 'verifier'>, key: KeyRecord): KeyRecord {
  const at = verifier.lastUse(key.id)
  if (at === undefined || at <= (key.last_used_at ?? 0)) return key
  return { ...key, last_used_at: at }
}

export function isVisible(key: KeyRecord, principal: Principal): boolean {
  return withinPins(key.pins, principal.authority.pins)
}

/**
 * Refuses an actor whose authority does not contain the target's; and its expiry too, when a secret is
 * issued or a life prolonged.
 *
 * A key has authority over its descendants, and over no key beside or above it: what it gained there would
 * not end with it.
 */
export async function requireManaged(
  call: Pick<WriteCall, 'tx'>,
  actor: Actor,
  target: KeyRecord,
  act: 'change' | 'empower',
): Promise<void> {
  const chain = await call.tx.keys.chain(target.account_id, target.id)
  if (act === 'empower' && !isBelow(chain, actor)) {
    throw kernelError('key_not_managed', {
      message: 'A key may rotate itself, and rotate or extend the keys minted below it.',
    })
  }
  const authority = authorityOf(chain)
  const beyond = exceeds(actor.authority, {
    ...authority,
    expires_at: act === 'change' ? actor.authority.expires_at : authority.expires_at,
  })
  if (beyond === undefined) return
  throw kernelError('key_not_managed', {
    details: { uncovered_scopes: beyond.scopes, uncovered_apps: beyond.apps },
  })
}

function isBelow(chain: readonly KeyRecord[], { key }: Actor): boolean {
  return key === undefined || chain.some(({ id }) => id === key.id)
}

/** Refuses a key that has ended, by itself or with an ancestor. */
export async function requireLive(
  { tx, now }: Pick<WriteCall, 'tx' | 'now'>,
  key: KeyRecord,
): Promise<void> {
  const status = await endOf(tx.keys, key, now)
  if (status !== undefined) throw kernelError('key_not_active', { details: { status } })
}

/** How a key ended, by itself or with an ancestor; undefined while it is live. */
export async function endOf(
  keys: Pick<KeyReads, 'chain'>,
  key: KeyRecord,
  now: Instant,
): Promise<'revoked' | 'expired' | undefined> {
  return endOfChain(key.parent_id === null ? [key] : await keys.chain(key.account_id, key.id), now)
}

/** A new value with its stored record. */
export function mintSecret(
  { names, random }: Pick<Platform, 'names' | 'random'>,
  version: number,
  now: Instant,
): { readonly value: string; readonly secret: KeySecret } {
  const { value, display } = mintToken(names.keyPrefix, random)
  return {
    value,
    secret: { hash: hashToken(value), display, version, created_at: now, not_after: null },
  }
}
