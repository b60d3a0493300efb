import { createHmac, timingSafeEqual } from 'node:crypto'
import type { RandomBytes } from '../../lib/engine/ports.ts'
import type { Instant, Millis } from '../../lib/time.ts'
import { HOUR, toIso } from '../../lib/time.ts'
import type { AccountReads, AccountWrites } from '../../plugins/store/contract/accounts.ts'

/** Lifetime of an operator's session, however much it is used. */
export const OPERATOR_SESSION_LIFE: Millis = HOUR

/** A browser of the operator's. */
export interface OperatorSession {
  /** Not the value of its cookie, nor a part of it. */
  readonly id: string
  readonly expires_at: Instant
}

/**
 * Sessions of whoever proved the operator token. Their values are signed with the token, so another token ends
 * all of them, and every daemon with the same token knows them; the store keeps only which were ended early.
 */
export interface OperatorSessions {
  open(now: Instant): { readonly value: string; readonly session: OperatorSession }
  /** Undefined for a value that this token did not sign, and after its end. */
  read(value: string, now: Instant): OperatorSession | undefined
}

const VALUE = /^(\d{1,16})\.([\w-]{43})\.([\w-]{43})$/

/** @param token the operator token, whose length makes guessing it from a value hopeless */
export function createOperatorSessions(token: string, random: RandomBytes): OperatorSessions {
  const sign = (purpose: string, text: string): Buffer =>
    createHmac('sha256', token).update(`operator session ${purpose} ${text}`).digest()
  const idOf = (text: string): string => sign('id', text).toString('base64url').slice(0, 22)
  return {
    open(now) {
      const expires_at = now + OPERATOR_SESSION_LIFE
      const text = `${expires_at}.${Buffer.from(random(32)).toString('base64url')}`
      const value = `${text}.${sign('value', text).toString('base64url')}`
      return { value, session: { id: idOf(text), expires_at } }
    },
    read(value, now) {
      const [, end = '', nonce = '', signature = ''] = VALUE.exec(value) ?? []
      const text = `${end}.${nonce}`
      const given = Buffer.from(signature, 'base64url')
      const expected = sign('value', text)
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
      const expires_at = Number(end)
      // One from the future was signed before the clock was set back.
      if (expires_at <= now || expires_at > now + OPERATOR_SESSION_LIFE) return undefined
      return { id: idOf(text), expires_at }
    },
  }
}

function markOf({ id }: OperatorSession): string {
  return `operator-session-ended:${id}`
}

/** Whether it was not ended early. */
export async function standsOperatorSession(
  accounts: Pick<AccountReads, 'meta'>,
  session: OperatorSession,
): Promise<boolean> {
  return (await accounts.meta(markOf(session))) === undefined
}

/** Ends a session on every daemon. */
export async function endOperatorSession(
  accounts: Pick<AccountWrites, 'putMetaOnce'>,
  session: OperatorSession,
  now: Instant,
): Promise<void> {
  await accounts.putMetaOnce(markOf(session), toIso(now))
}
