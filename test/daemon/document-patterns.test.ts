import fc from 'fast-check'
import t from 'tap'
import { judgePath } from '../../daemon/trees/path.ts'
import { readHostname } from '../../daemon/families/settings/domains/hostname.ts'
import { createUniverse, parseScope, SPEC_SCOPES } from '../../lib/scope/syntax.ts'
import { judgeUrl, parseAllowList } from '../../lib/egress/url.ts'
import { brandNames, customHeaderProblem } from '../../lib/webhook/headers.ts'
import { EVERY_BUILT_IN, isFamily } from '../../lib/webhook/match.ts'
import { isEventType } from '../../lib/webhook/event.ts'
import { DOCUMENTED, faultsOf, placeOfBody } from '../support/openapi.ts'

/** A text that the daemon judges by itself, and that the document has a pattern for. */
interface Judged {
  readonly what: string
  readonly operation: string
  /** What every text begins with. */
  readonly start?: string
  /** Pieces that texts are made of. */
  readonly pieces: readonly string[]
  readonly bodyOf: (text: string) => object
  readonly isTaken: (text: string) => boolean
}

const POLICY = { schemes: ['https', 'http'], allow: parseAllowList('') } as const
const NAMES = brandNames('service')

const UNIVERSE = createUniverse(SPEC_SCOPES)

const isHostname = (text: string): boolean => {
  try {
    readHostname(text, [])
    return true
  } catch {
    return false
  }
}

const JUDGED: readonly Judged[] = [
  {
    what: 'a path',
    operation: 'edits.create',
    pieces: ['a', 'ab', 'con', '.', '..', ' ', '/', '//', '\\', ':', '-', '_', 'ä', '😀', '\u00ad'],
    bodyOf: (path) => ({ operations: [{ op: 'delete', path }], base_revision: 1 }),
    isTaken: (text) => judgePath(text) === undefined,
  },
  {
    what: 'a url',
    operation: 'webhooks.create',
    start: 'https://',
    pieces: ['.', 'a.com', '@', ':8443', '/', '?', '#', '\\', ' ', 'ä', '[::1]', '%40'],
    bodyOf: (url) => ({ url, events: ['app.deployed'] }),
    isTaken: (text) => judgeUrl(text, POLICY).ok,
  },
  {
    what: 'a hostname',
    operation: 'settings.create_domain',
    pieces: [
      'shop',
      'Example',
      'com',
      '.',
      '-',
      '_',
      'ß',
      '。',
      'ｓ',
      '\u00ad',
      '\u200b',
      ' ',
      '1',
      '!',
    ],
    bodyOf: (hostname) => ({ hostname }),
    isTaken: isHostname,
  },
  {
    what: 'the name of a header',
    operation: 'webhooks.create',
    pieces: ['Host', 'X', '-', 'content-', 'Webhook-', 'te', 'T', '_', ' ', ':', 'ä', 'user-agent'],
    bodyOf: (name) => ({
      url: 'https://a.example/',
      events: ['app.deployed'],
      headers: { [name]: 'x' },
    }),
    isTaken: (text) => customHeaderProblem(text, 'x', NAMES) === undefined,
  },
  {
    what: 'a scope',
    operation: 'keys.create',
    pieces: ['apps:', '*:', 'read', 'write', '*', ':', 'A'],
    bodyOf: (scope) => ({ name: 'a', scopes: [scope] }),
    isTaken: (text) => parseScope(text, UNIVERSE) !== undefined,
  },
  {
    what: 'a subscription',
    operation: 'webhooks.create',
    pieces: ['order', 'a1', '.', '*', '_', ' ', 'A', '9'],
    bodyOf: (type) => ({ url: 'https://a.example/', events: [type] }),
    isTaken: (text) => text === EVERY_BUILT_IN || isFamily(text) || isEventType(text),
  },
]

for (const { what, operation, start = '', pieces, bodyOf, isTaken } of JUDGED) {
  const documented = DOCUMENTED.find(({ operationId }) => operationId === operation)
  await t.test(`the document allows what the daemon takes: ${what}`, async (t) => {
    if (documented === undefined) throw new Error(`${operation} is not documented`)
    const place = placeOfBody(documented)
    const texts = fc
      .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 })
      .map((parts) => start + parts.join(''))
    let taken = 0
    let forbidden = 0
    fc.assert(
      fc.property(texts, (text) => {
        const isForbidden = faultsOf(bodyOf(text), ...place, 'schema').length > 0
        if (isForbidden) forbidden += 1
        if (!isTaken(text)) return true
        taken += 1
        return !isForbidden
      }),
      { numRuns: 3000 },
    )
    t.ok(taken > 10 && forbidden > 10, `${taken} taken, ${forbidden} forbidden`)
  })
}
