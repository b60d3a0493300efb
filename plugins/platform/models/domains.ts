import { big, creator, flag, id, int, named, orNull, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

/** `verifying`: one of its two records was found. Once `failed` it is no longer checked automatically. */
export const DOMAIN_STATUSES = ['pending', 'verifying', 'verified', 'failed'] as const

/** What the last check of a domain found. */
const CHECKED = {
  status: text<(typeof DOMAIN_STATUSES)[number]>(),
  /** Whether the record was found that proves who owns the hostname. */
  owned: flag(),
  /** Whether the hostname resolves to the apps of this service. */
  routed: flag(),
  /** Code of what is wrong. */
  error: orNull(text()),
  /** Consecutive failed scheduled checks. */
  failures: int(),
  /** Since when it is to be verified. */
  waiting_since: big(),
  checked_at: orNull(big()),
  verified_at: orNull(big()),
  /** When it is checked next; null once it failed. */
  next_check_at: orNull(big()),
}

/** A hostname that an account wants to serve an app at. */
export const DOMAINS = defineModel('domains', {
  /** Time-ordered. */
  id: id(),
  app_id: id(),
  account_id: id(),
  /** Lower case, without a final dot. Of those that are verified no two have the same. */
  hostname: id(),
  /** The value of the record that proves ownership. */
  token: text(),
  /** At most one verified domain of an app is primary. */
  primary: named('is_primary', flag()),
  created_by: creator(),
  created_at: big(),
  ...CHECKED,
})
