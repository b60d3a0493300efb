import type { Statement } from './failpoint-table.ts'

/** A daemon that errs on purpose: what the harness must find, or it could find nothing. */
export interface Mutant {
  readonly name: string
  /** The invariant that must be seen violated. */
  readonly breaks: string
  /** A statement whose caller is told before it is done. */
  readonly early?: Statement
  readonly rewrite?: readonly [RegExp, string]
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'accepts-before-commit',
    breaks: 'accepted.kept',
    early: { sql: /INSERT INTO keyhook_(publishing|events) /, within: null },
  },
  {
    name: 'revokes-before-commit',
    breaks: 'keys.ended',
    early: { sql: /^COMMIT$/, within: /UPDATE keyhook_keys SET revoked_at/ },
  },
  {
    name: 'settles-unfenced',
    breaks: 'orphans.none',
    rewrite: [
      /AND claim = new\.claim AND status = 'delivering'|AND d\.claim = o\.claim AND d\.status IN \([^)]*\)/,
      '',
    ],
  },
  {
    name: 'recovery-forgets',
    breaks: 'healthy.arrives',
    rewrite: [
      /SET status = 'pending', next_at = ([$?]1), claim = NULL\s+WHERE done_at IS NULL/,
      "SET status = 'succeeded', next_at = NULL, done_at = $1, claim = NULL WHERE done_at IS NULL",
    ],
  },
  {
    name: 'recovery-hurries',
    breaks: 'schedule.kept',
    rewrite: [
      /(SET status = 'pending', next_at = [$?]1, claim = NULL\s+WHERE done_at IS NULL) AND status IN \([^)]*\)/,
      '$1',
    ],
  },
  {
    name: 'counts-twice',
    breaks: 'attempts.counted',
    rewrite: [/attempts = new\.number|attempts = o\.number/, '$& + 1'],
  },
  {
    name: 'disables-nothing',
    breaks: 'ended.silent',
    rewrite: [/SET status = 'disabled', disabled_reason/, "SET status = 'active', disabled_reason"],
  },
  {
    name: 'rotation-keeps-both',
    breaks: 'secrets.sign',
    rewrite: [
      /(UPDATE keyhook_webhook_secrets SET) not_after = ([$?]2)/,
      '$1 not_after = $2 + 2500',
    ],
  },
  // Those that only several daemons can show.
  {
    name: 'waits-for-nobody',
    breaks: 'authority.held',
    rewrite: [/WHERE id <> \$1 AND lease_until > clock_timestamp\(\)/, 'WHERE id <> $1 AND false'],
  },
  {
    name: 'waits-too-short',
    breaks: 'authority.held',
    rewrite: [/(clock_timestamp\(\) \+ interval) '\d+ milliseconds'/, "$1 '600 milliseconds'"],
  },
  {
    name: 'hears-nothing',
    breaks: 'authority.held',
    rewrite: [/(SELECT changes FROM \S+ WHERE seq >) /, '$1 1000000 + '],
  },
]
