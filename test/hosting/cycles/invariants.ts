import type { Ledger } from '../../crash/ledger.ts'

/** What a run looks at, and what each says. */
export const INVARIANTS = {
  'release.live': 'a response is from a release that was live at some instant during the request',
  'release.whole': 'all bytes of a response are from one release, with its length and entity tag',
  'asset.found': 'a file that every release of that time contains is always found',
  'tab.kept':
    'a fingerprinted file is found while its release is live or one of the five before it',
  'unchanged.true': '304 is answered only to a client that has the live version',
  'unchanged.told': 'a client that has the live version and revalidates it gets 304',
  'part.true':
    'a range is from the live version, and with `If-Range` from the version the client has',
  'caching.right': 'only fingerprinted names may be cached without revalidation',
  'answers.well': 'no response is an error or incomplete',
  'ends.soon': 'a deployment ends within two minutes',
  'told.once': 'each deployment ends, with one event',
  'live.one': 'at most one deployment is live, and its address serves its revision',
  'daemon.lives': 'no daemon ends by itself',
} as const

export type CyclesLedger = Ledger<keyof typeof INVARIANTS>
