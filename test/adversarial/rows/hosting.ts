import type { Row, Section } from '../table.ts'

const ROWS: readonly Row[] = [
  {
    id: 'H01',
    case: 'an archived, unpublished or suspended app is visited, and every other response of the apps listener is provoked',
    answer:
      '`410` or `404` that clears the origin of the app alone: no response clears or sets a cookie, since browsers clear those of the whole registrable domain. In Chromium the cookies of siblings, of a neighbouring name and of the API survive',
  },
  {
    id: 'H02',
    case: 'an app is created, renamed or cloned under the alias login, www, api, mail, wpad, autodiscover, the brand, or made up of such names',
    answer:
      '`400 alias_reserved`; an app that had such an alias before keeps it through a change, its archiving and its restoration: `200`',
  },
]

export const HOSTING: Section = {
  letter: 'H',
  title: 'Published apps',
  size: 2,
  rows: ROWS,
}
