import { big, id, orNull, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

/** A link to the portal of an account, and the session that it opened once it was followed. */
export const PORTAL_SESSIONS = defineModel('portal_sessions', {
  /** Neither the link's value nor the session's, nor a part of them. */
  id: id(),
  account_id: id(),
  /** SHA-256 of the value that is good now: that of the link until it was followed, then that of the session. */
  hash: id(),
  /** Canonical scopes, separated by spaces. */
  scopes: text(),
  created_at: big(),
  /** When the link was followed; null until then. */
  opened_at: orNull(big()),
  /** End of the link until it was followed, then of the session. */
  expires_at: big(),
})
