import type { Ledger } from '../crash/ledger.ts'

/** What a run looks at, and what each says. */
export const INVARIANTS = {
  'authority.held':
    'no probe that began after a change was answered is accepted beyond what the change left',
  'authority.kept': 'a value from which nobody took anything is never refused',
  'authority.repeated':
    'a change that is asked again, since whoever was asked died, is answered once all go by it',
  'daemon.lives': 'a daemon ends by a kill of ours alone',
  'daemon.recovers': 'a daemon is ready again within 20 s once the cause of a fault is gone',
  'outcome.own': 'a delivery never shows an outcome of a claim that was taken over',
  'outcome.stays': 'what was recorded stays as it was recorded',
  'duplicates.same': 'what arrives again bears the same ids and the same bytes',
  'duplicates.bounded': 'a delivery arrives again only if its claim was taken over',
  'settled.all': 'when nothing new comes in, every delivery becomes final',
} as const

export type FleetLedger = Ledger<keyof typeof INVARIANTS>

export function isSound({ rows }: FleetLedger): boolean {
  return Object.values(rows).every(({ violated }) => violated === 0)
}
