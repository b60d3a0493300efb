import { big, flag, id, int, json, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

export const SIGNUPS = ['open', 'invite', 'closed'] as const

/** How the users of an app sign in to it. */
export const SIGN_IN = defineModel('sign_in', {
  app_id: id(),
  enabled: flag(),
  providers: json<readonly string[]>(),
  /** Addresses that a sign-in may redirect to. */
  allowed_redirects: json<readonly string[]>(),
  /** In seconds. */
  session_ttl: int(),
  /** Who may become a user. */
  signup: text<(typeof SIGNUPS)[number]>(),
  updated_at: big(),
})
