/** What was checked and what was found, by the name of each invariant. */
export interface Ledger<Name extends string = InvariantName> {
  /** @param evidence said only of a violation */
  check(name: Name, holds: boolean, evidence: () => string): void
  readonly rows: Readonly<Record<Name, Row>>
  readonly violations: readonly Violation<Name>[]
}

export interface Row {
  checked: number
  violated: number
}

export interface Violation<Name extends string = InvariantName> {
  readonly name: Name
  readonly evidence: string
}

/** Every invariant and what it says. */
export const INVARIANTS = {
  'accepted.kept': 'an acknowledged event is in the feed after every restart',
  'accepted.once': 'a request that is repeated publishes one event',
  'accepted.clean': 'no valid request is refused',
  'answers.honest': 'a fault of the machine answers 503, never 500',
  'fanout.whole': 'an event has exactly one delivery for each webhook that names its type',
  'healthy.arrives': 'a delivery to a healthy receiver arrives and is recorded as succeeded',
  'duplicates.same': 'a repeated delivery has the same ids and the same bytes',
  'duplicates.bounded':
    'a delivery is repeated only if it failed, or was in flight at a kill or at a crash of the server',
  'attempts.counted': 'attempts are numbered 1, 2, … and each recorded attempt was made',
  'attempts.grow': 'the number of attempts never falls',
  'schedule.kept': 'a retry is never early, by the clock of its daemons',
  'schedule.prompt':
    "a retry is at most 5 s late by that clock, or as late as the run allows, and 10 s more after a clock jump; not counted: time without a daemon or server, time in which the clock makes up for being set back, and on PostgreSQL the rest of a dead daemon's claim",
  'ended.silent': 'a webhook receives nothing after its disabling or deletion is acknowledged',
  'final.stays': 'a final delivery does not change and is never sent again',
  'orphans.none': 'a deleted webhook has no unfinished delivery; on PostgreSQL, not for long',
  'clock.bounded':
    'work that a fast clock postponed waits no longer than the clock was ahead; a jump then lets that time pass',
  'settled.all': 'every delivery becomes final once the load stops',
  'keys.ended': 'a revoked or replaced key value is refused from then on',
  'keys.kept': 'an acknowledged key value works',
  'admin.once': 'a webhook or key whose creation is repeated exists once',
  'secrets.sign':
    'the current secret signs and an ended one does not; an overlap ends by the clock of the daemons',
  'daemon.lives': 'a daemon ends only when the harness kills it',
  'server.outlived': 'a daemon becomes ready again by itself after a crash of its database server',
  'stop.clean': 'a stopped daemon exits with 0 and leaves nothing claimed',
  'file.whole': "SQLite's integrity_check finds no fault",
} as const

export type InvariantName = keyof typeof INVARIANTS

/** @param invariants by name, each with what it says */
export function createLedger<Name extends string>(
  invariants: Readonly<Record<Name, string>>,
): Ledger<Name> {
  const names = Object.keys(invariants) as Name[]
  const rows = Object.fromEntries(names.map((name) => [name, { checked: 0, violated: 0 }]))
  const violations: Violation<Name>[] = []
  return {
    rows: rows as Record<Name, Row>,
    violations,
    check(name, holds, evidence) {
      const row = rows[name]
      if (row === undefined) return
      row.checked++
      if (holds) return
      row.violated++
      violations.push({ name, evidence: evidence() })
    },
  }
}
