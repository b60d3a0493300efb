import type { Ledger } from '../crash/ledger.ts'

/** What a run looks at, and what each says. */
export const INVARIANTS = {
  'authority.held':
    'a probe that starts after a change is acknowledged is accepted only within the authority that is left',
  'authority.kept': 'a key value whose authority was not changed is never refused',
  'authority.repeated':
    'a change that is repeated, because the daemon that was asked died, is acknowledged once all daemons apply it',
  'daemon.lives': 'a daemon ends only when the harness kills it',
  'daemon.recovers': 'a daemon is ready again within 20 s after a fault ends',
  'outcome.own': 'a delivery never shows the outcome of a claim that was taken over',
  'outcome.stays': 'a recorded outcome does not change',
  'duplicates.same': 'a repeated delivery has the same ids and the same bytes',
  'duplicates.bounded': 'a delivery is repeated only if its claim was taken over',
  'settled.all': 'every delivery becomes final once the load stops',
} as const

export type FleetLedger = Ledger<keyof typeof INVARIANTS>

export function isSound({ rows }: FleetLedger): boolean {
  return Object.values(rows).every(({ violated }) => violated === 0)
}
