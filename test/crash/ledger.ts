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
  'accepted.once': 'one request, however often asked, is one event',
  'accepted.clean': 'nothing that should be accepted is refused',
  'answers.honest': 'what the machine is to blame for is answered 503, never 500',
  'fanout.whole': 'an event has exactly one delivery per webhook that names its type',
  'healthy.arrives': 'a delivery to a receiver that answers well arrives and is recorded so',
  'duplicates.same': 'what arrives again bears the same ids and the same bytes',
  'duplicates.bounded':
    'a delivery arrives again only if it failed, or was in flight at a kill or at a crash of the server',
  'attempts.counted': 'attempts are numbered 1, 2, … and none is recorded that was not made',
  'attempts.grow': 'the number of attempts never falls',
  'schedule.kept': 'a retry never comes before its time, by the clock its daemons had',
  'schedule.prompt':
    'a retry comes within 5 s of its time by that clock, within 15 s where it jumped meanwhile; time without a daemon or a server, in which that clock makes up for being set back, and on PostgreSQL what is left of a claim of the dead, not counted',
  'ended.silent': 'nothing reaches a webhook once disabling or deleting it was acknowledged',
  'final.stays': 'a final delivery stays as it is and is never sent again',
  'orphans.none': 'a deleted webhook has no unfinished delivery; on PostgreSQL, none for long',
  'clock.bounded':
    'what a clock that was ahead put off waits no longer than it was ahead; then a jump lets that time pass',
  'settled.all': 'when nothing new comes in, every delivery becomes final',
  'keys.ended': 'a value that was revoked or rotated away is refused for ever',
  'keys.kept': 'a value that was acknowledged works',
  'admin.once': 'a webhook or key whose creation was asked again is there once',
  'secrets.sign':
    'the current secret signs, and one that was ended does not; an overlap ends by the clock of the daemons',
  'daemon.lives': 'a daemon ends by a kill of ours alone',
  'server.outlived': 'a daemon whose database server crashed is ready again by itself',
  'stop.clean': 'a daemon told to stop ends with 0 and leaves nothing claimed',
  'file.whole': "SQLite's integrity_check finds nothing",
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
