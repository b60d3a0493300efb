/** A moment of the daemon's work at which it may be made to die, found in what its drivers are asked. */
export interface Failpoint {
  readonly name: string
  readonly at: Statement | Moment
  /** In the middle: the call was handed to the driver and nobody heard of it yet. */
  readonly when: 'before' | 'during' | 'after'
  /** Where it can be reached; both when absent. */
  readonly only?: 'sqlite' | 'postgres'
  /** How often one process can pass it, when that is not often. */
  readonly most?: number
  /** Reached while the daemon starts, not by load. */
  readonly boot?: 'first' | 'every'
}

/** A statement whose text matches, blanks folded. */
export interface Statement {
  readonly sql: RegExp
  /** One of the statements before it in the same transaction; null: it is in none. */
  readonly within?: RegExp | null
  /** What is bound, as text. */
  readonly bind?: RegExp
}

/** Moments that are no statement. */
export type Moment = 'connect' | 'send' | 'body' | 'status' | 'accepted' | 'checkpoint' | 'close'

const PUBLISH: Statement = { sql: /INSERT INTO keyhook_(publishing|events) /, within: null }
const SETTLE: Statement = { sql: /INSERT INTO keyhook_settling|^WITH outcome AS MATERIALIZED/ }
const RETRY: Statement = { ...SETTLE, bind: /"pending"/ }
const CLAIM: Statement = {
  sql: /^UPDATE keyhook_deliveries SET status = 'delivering'|^WITH unsynced AS/,
}
const RECOVER: Statement = {
  sql: /^UPDATE keyhook_deliveries SET status = 'pending', next_at = \S+ claim = NULL WHERE done_at/,
}
const commitOf = (within: RegExp): Statement => ({ sql: /^COMMIT$/, within })

const KEYED = commitOf(/INSERT INTO keyhook_(publishing|events) /)
const KEY_CREATED = commitOf(/INSERT INTO keyhook_keys /)
const KEY_ROTATED = commitOf(/UPDATE keyhook_keys SET version/)
const KEY_REVOKED = commitOf(/UPDATE keyhook_keys SET revoked_at/)
const WEBHOOK_MADE = commitOf(/INSERT INTO keyhook_webhooks /)
const DISABLED = commitOf(/UPDATE keyhook_webhooks SET status = 'disabled'/)
const ENABLED = commitOf(/UPDATE keyhook_webhooks SET status = 'active'/)
const DELETED = commitOf(/DELETE FROM keyhook_webhooks/)
const SECRET_ROTATED = commitOf(/UPDATE keyhook_webhook_secrets SET not_after/)
const MIGRATED = commitOf(/CREATE TABLE keyhook_webhooks/)

export const FAILPOINTS: readonly Failpoint[] = [
  {
    name: 'accept.before_lookup',
    at: { sql: /^SELECT e\..* JOIN keyhook_events e ON e\.account_id = asked/ },
    when: 'before',
  },
  { name: 'accept.before_commit', at: PUBLISH, when: 'before' },
  { name: 'accept.in_commit', at: PUBLISH, when: 'during' },
  { name: 'accept.after_commit_before_202', at: PUBLISH, when: 'after' },
  { name: 'accept.after_202', at: 'accepted', when: 'after' },
  {
    name: 'accept.keyed.after_event_insert',
    at: { sql: /INSERT INTO keyhook_(publishing|events) /, within: /^BEGIN/ },
    when: 'after',
  },
  { name: 'accept.keyed.before_commit', at: KEYED, when: 'before' },
  { name: 'accept.keyed.in_commit', at: KEYED, when: 'during' },
  { name: 'accept.keyed.after_commit_before_202', at: KEYED, when: 'after' },
  { name: 'claim.before_commit', at: CLAIM, when: 'before' },
  { name: 'claim.in_commit', at: CLAIM, when: 'during' },
  { name: 'claim.after_commit', at: CLAIM, when: 'after' },
  { name: 'connect.after', at: 'connect', when: 'after' },
  { name: 'send.before', at: 'send', when: 'before' },
  { name: 'send.mid_body', at: 'body', when: 'during' },
  { name: 'send.after_body', at: 'send', when: 'after' },
  { name: 'response.after_headers', at: 'status', when: 'after' },
  { name: 'record.before_commit', at: SETTLE, when: 'before' },
  { name: 'record.in_commit', at: SETTLE, when: 'during' },
  { name: 'record.after_commit', at: SETTLE, when: 'after' },
  { name: 'reschedule.before_commit', at: RETRY, when: 'before' },
  { name: 'reschedule.in_commit', at: RETRY, when: 'during' },
  { name: 'reschedule.after_commit', at: RETRY, when: 'after' },
  { name: 'key.create.before_commit', at: KEY_CREATED, when: 'before' },
  { name: 'key.create.after_commit', at: KEY_CREATED, when: 'after' },
  {
    name: 'key.rotate.between_statements',
    at: { sql: /UPDATE keyhook_key_secrets/ },
    when: 'before',
  },
  { name: 'key.rotate.before_commit', at: KEY_ROTATED, when: 'before' },
  { name: 'key.rotate.after_commit', at: KEY_ROTATED, when: 'after' },
  { name: 'key.revoke.before_commit', at: KEY_REVOKED, when: 'before' },
  { name: 'key.revoke.in_commit', at: KEY_REVOKED, when: 'during' },
  { name: 'key.revoke.after_commit', at: KEY_REVOKED, when: 'after' },
  {
    name: 'webhook.create.mid',
    at: { sql: /INSERT INTO keyhook_webhook_secrets/, within: /INSERT INTO keyhook_webhooks / },
    when: 'before',
  },
  { name: 'webhook.create.after_commit', at: WEBHOOK_MADE, when: 'after' },
  {
    name: 'webhook.disable.mid',
    at: { sql: /^UPDATE keyhook_webhooks SET status = 'disabled'/ },
    when: 'after',
  },
  { name: 'webhook.disable.before_commit', at: DISABLED, when: 'before' },
  { name: 'webhook.disable.after_commit', at: DISABLED, when: 'after' },
  { name: 'webhook.enable.after_commit', at: ENABLED, when: 'after' },
  { name: 'webhook.delete.mid', at: { sql: /^DELETE FROM keyhook_webhooks/ }, when: 'after' },
  { name: 'webhook.delete.after_commit', at: DELETED, when: 'after' },
  {
    name: 'secret.rotate.mid',
    at: { sql: /INSERT INTO keyhook_webhook_secrets/, within: /SET not_after/ },
    when: 'before',
  },
  { name: 'secret.rotate.after_commit', at: SECRET_ROTATED, when: 'after' },
  { name: 'migrate.mid', at: { sql: /^CREATE TABLE keyhook_/ }, when: 'after', boot: 'first' },
  { name: 'migrate.before_commit', at: MIGRATED, when: 'before', most: 1, boot: 'first' },
  { name: 'migrate.in_commit', at: MIGRATED, when: 'during', most: 1, boot: 'first' },
  {
    name: 'first_user.before_commit',
    at: commitOf(/INSERT INTO keyhook_users/),
    when: 'before',
    most: 1,
    boot: 'first',
  },
  {
    name: 'first_user.after_commit',
    at: commitOf(/INSERT INTO keyhook_users/),
    when: 'after',
    most: 1,
    boot: 'first',
  },
  { name: 'recover.before', at: RECOVER, when: 'before', most: 1, boot: 'every' },
  { name: 'recover.mid', at: RECOVER, when: 'during', most: 1, boot: 'every' },
  { name: 'recover.after', at: RECOVER, when: 'after', most: 1, boot: 'every' },
  { name: 'checkpoint.mid', at: 'checkpoint', when: 'during', only: 'sqlite', most: 1 },
  { name: 'stop.mid', at: 'close', when: 'during', most: 1 },
]
