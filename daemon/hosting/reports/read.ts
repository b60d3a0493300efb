import { z } from 'zod'
import type { BrowserReport } from '../site.ts'

/** Maximum reports of one request. */
const MAX_REPORTS = 20
/** Maximum characters of a message. */
export const MAX_MESSAGE = 1000
export const MAX_STACK = 4000
const MAX_URL = 1024

/** In an address within a text: what follows its path, except the line and column of a stack. */
const QUERIES = /(\bhttps?:\/\/[^\s?#()<>"']*)[?#][^\s()<>"']*?((?::\d+){0,2}(?=[\s()<>"']|$))/g

/** Untrusted text as it is stored: cut, well-formed, without invisible characters and queries. */
function tidyText(text: string, most: number): string {
  const cut = Buffer.from(text.slice(0, most)).toString()
  return cut
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .replaceAll(QUERIES, (_, address: string, position: string) => address + position)
}

/** An address of a page without its query; undefined for any other text. */
function tidyUrl(text: string): string | undefined {
  const url = text.length > 16_384 ? null : URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  return `${url.origin}${url.pathname}`.slice(0, MAX_URL)
}

/** Pattern of a deployment id. */
const RELEASE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const beacon = z.object({
  release: z.string().nullish(),
  reports: z.array(z.unknown()),
})

const scriptReport = z.object({
  type: z.enum(['error', 'unhandledrejection', 'console']),
  message: z.string(),
  stack: z.string().nullish(),
  url: z.string(),
})

/** Sent as text, because a page needs no permission for that. */
const TYPES: ReadonlySet<string> = new Set(['text/plain', 'application/json'])

/** Parses the reports of the observing script. An invalid report does not affect the others. */
export function readBeacon(type: string, value: unknown): readonly BrowserReport[] {
  if (!TYPES.has(type)) return []
  const { data } = beacon.safeParse(value)
  if (data === undefined) return []
  const { release } = data
  const deployment_id = typeof release === 'string' && RELEASE.test(release) ? release : null
  return data.reports.slice(0, MAX_REPORTS).flatMap((one) => {
    const report = scriptReport.safeParse(one).data
    const url = report === undefined ? undefined : tidyUrl(report.url)
    if (report === undefined || url === undefined) return []
    const { stack } = report
    return {
      type: report.type,
      message: tidyText(report.message, MAX_MESSAGE),
      stack: typeof stack === 'string' ? tidyText(stack, MAX_STACK) : null,
      url,
      deployment_id,
    }
  })
}

const text = z.string().nullish()

/** Content Security Policy 3, 5.3. */
const violation = z.object({ effectiveDirective: z.string(), blockedURL: text, sourceFile: text })

/** The message of each report type (Reporting API and the specifications of the types). */
const MESSAGES: Readonly<
  Record<string, { type: BrowserReport['type']; of: (body: unknown) => string | undefined }>
> = {
  'csp-violation': {
    type: 'csp',
    of: (body) => {
      const { data } = violation.safeParse(body)
      return data && printViolation(data.effectiveDirective, data.blockedURL, data.sourceFile)
    },
  },
  deprecation: {
    type: 'deprecation',
    of: (body) => z.object({ message: z.string() }).safeParse(body).data?.message,
  },
  crash: {
    type: 'crash',
    of: (body) => {
      const { data } = z.object({ reason: text }).safeParse(body)
      return data && `The page crashed: ${data.reason ?? 'no reason is known'}`
    },
  },
}

const reports = z.array(z.unknown())

const report = z.object({ type: z.string(), url: z.string(), body: z.unknown() })

/** The older form, with a single violation. */
const older = z.object({
  'csp-report': z.object({
    'document-uri': z.string(),
    'effective-directive': text,
    'violated-directive': text,
    'blocked-uri': text,
    'source-file': text,
  }),
})

const READERS: Readonly<Record<string, (value: unknown) => readonly BrowserReport[]>> = {
  'application/reports+json': (value) =>
    (reports.safeParse(value).data ?? []).slice(0, MAX_REPORTS).flatMap(readReport),
  'application/csp-report': readOlder,
}

/** Parses reports that browsers send by themselves. Unknown ones are left out. */
export function readStandard(type: string, value: unknown): readonly BrowserReport[] {
  return Object.hasOwn(READERS, type) ? (READERS[type]?.(value) ?? []) : []
}

function readReport(value: unknown): readonly BrowserReport[] {
  const { data } = report.safeParse(value)
  if (data === undefined || !Object.hasOwn(MESSAGES, data.type)) return []
  const known = MESSAGES[data.type]
  const message = known?.of(data.body)
  return known === undefined || message === undefined ? [] : reportOf(known.type, message, data.url)
}

function readOlder(value: unknown): readonly BrowserReport[] {
  const given = older.safeParse(value).data?.['csp-report']
  const directive = given?.['effective-directive'] ?? given?.['violated-directive']
  if (given === undefined || typeof directive !== 'string') return []
  const message = printViolation(directive, given['blocked-uri'], given['source-file'])
  return reportOf('csp', message, given['document-uri'])
}

function printViolation(
  directive: string,
  blocked: string | null | undefined,
  source: string | null | undefined,
): string {
  const what = blocked === '' ? undefined : blocked
  const where = source === '' || source === null || source === undefined ? '' : ` in ${source}`
  return `${directive} blocked ${what ?? 'something'}${where}`
}

function reportOf(
  type: BrowserReport['type'],
  message: string,
  address: string,
): readonly BrowserReport[] {
  const url = tidyUrl(address)
  if (url === undefined) return []
  return [{ type, message: tidyText(message, MAX_MESSAGE), stack: null, url, deployment_id: null }]
}
