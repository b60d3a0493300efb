import { z } from 'zod'
import type { BrowserReport } from '../site.ts'
import { MAX_MESSAGE, MAX_REPORTS, tidyText, tidyUrl } from './text.ts'

const text = z.string().nullish()

/** Content Security Policy 3, 5.3. */
const violation = z.object({ effectiveDirective: z.string(), blockedURL: text, sourceFile: text })

/** What is told of each type of report: Reporting API, and what defines the types. */
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

/** The older form, of one violation. */
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

/** Reads what browsers report of themselves. What it is not known what to make of is left out. */
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
