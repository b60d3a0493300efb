import type { IncomingHttpHeaders } from 'node:http'
import { MUTANTS } from '../../crash/mutants.ts'
import type { CyclesLedger } from './invariants.ts'

/** A daemon that errs on purpose: what the harness must find, or it could find nothing. */
export interface CyclesMutant {
  readonly name: string
  /** The invariant that must be seen violated. */
  readonly breaks: keyof CyclesLedger['rows']
  /** Only several daemons can show it. */
  readonly several?: true
  /** What its database is asked instead. */
  readonly rewrite?: readonly [RegExp, string]
  /** What it takes visitors to ask. */
  readonly hears?: (asked: Heard) => void
  /** What it answers them: the body, after one that it gave before to the same. */
  readonly says?: (body: Buffer, before: Buffer) => Buffer
  /** The headers that it answers, by names in lower case. */
  readonly heads?: (headers: Map<string, string>, asked: Heard) => void
}

/** A request, before anybody looked at it. */
export interface Heard {
  url: string
  headers: IncomingHttpHeaders
}

/** Errs now and then alone, or nothing would be loaded. */
const ONCE_IN = 20
const isNow = (): boolean => Math.random() * ONCE_IN < 1

const ofFleet = (name: string): readonly [RegExp, string] => {
  const { rewrite } = MUTANTS.find((one) => one.name === name) ?? {}
  if (rewrite === undefined) throw new TypeError(`there is no mutant ${name}`)
  return rewrite
}

export const CYCLES_MUTANTS: readonly CyclesMutant[] = [
  {
    name: 'leads-to-the-old',
    breaks: 'release.live',
    rewrite: [
      /live\.artifact, (?=revision\.tree)/,
      `CASE WHEN site.turn % 5 < 4 THEN live.artifact ELSE COALESCE((
         SELECT past.artifact FROM keyhook_deployments past
         WHERE past.app_id = site.app_id AND past.status = 'superseded'
         ORDER BY past.release DESC LIMIT 1), live.artifact) END AS artifact, `,
    ],
  },
  {
    name: 'mixes-two-releases',
    breaks: 'release.whole',
    says: (body, before) =>
      before.length === body.length
        ? Buffer.concat([body.subarray(0, body.length >> 1), before.subarray(body.length >> 1)])
        : body,
  },
  {
    name: 'loses-a-file',
    breaks: 'asset.found',
    hears(asked) {
      if (asked.url === '/site.js' && isNow()) asked.url = '/site.gone.js'
    },
  },
  {
    name: 'forgets-open-tabs',
    breaks: 'tab.kept',
    rewrite: [/(ORDER BY max\(release\) DESC LIMIT) 5/, '$1 0'],
  },
  {
    name: 'knows-every-tag',
    breaks: 'unchanged.true',
    hears({ headers }) {
      const { 'if-none-match': held } = headers
      if (held !== undefined) headers['if-none-match'] = '*'
    },
  },
  {
    name: 'echoes-every-tag',
    breaks: 'unchanged.true',
    hears({ headers }) {
      const { 'if-none-match': held } = headers
      if (held === undefined) return
      headers['if-none-match'] = '*'
      headers['x-held'] = held
    },
    heads(headers, { headers: asked }) {
      const { 'x-held': held } = asked
      if (held !== undefined) headers.set('etag', String(held))
    },
  },
  {
    name: 'knows-no-tag',
    breaks: 'unchanged.told',
    hears({ headers }) {
      if (isNow()) delete headers['if-none-match']
    },
  },
  {
    name: 'gives-parts-of-anything',
    breaks: 'part.true',
    hears: ({ headers }) => void delete headers['if-range'],
  },
  {
    name: 'keeps-for-ever',
    breaks: 'caching.right',
    heads(headers) {
      const caching = headers.get('cache-control')
      if (isNow() && caching?.startsWith('public') === true) {
        headers.set('cache-control', 'public, max-age=31536000, immutable')
      }
    },
  },
  {
    name: 'tells-again',
    breaks: 'told.once',
    rewrite: [/(SET announced) = 1(\s.*AND announced = 0)/s, '$1 = announced$2'],
  },
  {
    name: 'keeps-what-is-switching',
    breaks: 'release.live',
    several: true,
    rewrite: [/THEN 1 (?=ELSE 0 END AS switching)/, 'THEN 0 '],
  },
  {
    name: 'hears-nothing',
    breaks: 'release.live',
    several: true,
    rewrite: ofFleet('hears-nothing'),
  },
  {
    name: 'waits-for-nobody',
    breaks: 'release.live',
    several: true,
    rewrite: ofFleet('waits-for-nobody'),
  },
]
