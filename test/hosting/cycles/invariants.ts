import type { Ledger } from '../../crash/ledger.ts'

/** What a run looks at, and what each says. */
export const INVARIANTS = {
  'release.live':
    'an answer is of a release that was live at some instant from the question to its end',
  'release.whole':
    'all bytes of an answer are of one release, as many and with the tag that it says',
  'asset.found': 'a file that every release of that time holds is never missing',
  'tab.kept':
    'a fingerprinted file is found while its release is live, or one of the five that were live before',
  'unchanged.true': 'a 304 is answered only to who holds what is live',
  'unchanged.told': 'who holds what is live, and asks whether it is, is told so',
  'part.true': 'a part is of what is live, and of what was held if it was asked for so',
  'caching.right': 'only fingerprinted names may be kept without asking again',
  'answers.well': 'nothing is answered with an error, and no answer breaks off',
  'ends.soon': 'a deployment is over within 20 s',
  'told.once': 'each deployment has ended, and was told of once',
  'live.one': 'at most one deployment is live, and the address serves its revision',
  'daemon.lives': 'no daemon ends by itself',
} as const

export type CyclesLedger = Ledger<keyof typeof INVARIANTS>
