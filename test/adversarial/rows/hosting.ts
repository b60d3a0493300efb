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
  {
    id: 'H03',
    case: 'one network reports 600 invented errors of an app; then the page of another visitor breaks',
    answer:
      '`204`; the real error is listed, and of what the network invented five per batch at most',
  },
  {
    id: 'H04',
    case: 'the attacker reports the real error first, among invented ones, from 30 addresses of one IPv6 /64',
    answer:
      '`204`; once somebody else reports it, it no longer counts for the attacker’s share, and is listed',
  },
  {
    id: 'H05',
    case: 'an ordinary app is published, and one of its pages breaks in the browser of a visitor',
    answer:
      '`200`: every page carries the error beacon once, in production and preview, put in while it is served; stored files hold none, and the tag is the digest of what is sent',
  },
  {
    id: 'H06',
    case: 'the owner opts out, misspells it, and opts in again',
    answer:
      '`200` without the beacon and without reporting endpoints while the configuration says off; any value but on and off is `400 config_not_allowed`',
  },
  {
    id: 'H07',
    case: 'a page has a policy of its own that forbids scripts, or allows those with a nonce alone',
    answer:
      '`200`, sent as it is stored: nothing is added to the policy. A page whose policy allows its own origin carries the beacon behind the policy',
  },
  {
    id: 'H08',
    case: '242 distinct pages of 9 MiB, each one comment that never ends, are requested at once by HEAD, without signing in',
    answer:
      '`200` for each, without the beacon: no more than the first 256 KiB of a page is held, four pages at once, and memory stays bounded. Tags stay those of what is sent, and an ordinary page carries the beacon',
  },
  {
    id: 'H09',
    case: 'a page without a doctype, a head or a title, in a folder of its own, is opened, framed, and fetched by a script',
    answer:
      '`200` with the beacon where the browser shows it (by Sec-Fetch-Dest), as it is stored for the script; the answers vary by that header, each with the tag of what is sent',
  },
]

export const HOSTING: Section = {
  letter: 'H',
  title: 'Published apps',
  size: 9,
  rows: ROWS,
}
