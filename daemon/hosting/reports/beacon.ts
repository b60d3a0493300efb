import { z } from 'zod'
import type { BrowserReport } from '../site.ts'
import { MAX_MESSAGE, MAX_REPORTS, MAX_STACK, tidyText, tidyUrl } from './text.ts'

/** Of a deployment. */
const RELEASE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const beacon = z.object({
  release: z.string().nullish(),
  reports: z.array(z.unknown()),
})

const told = z.object({
  type: z.enum(['error', 'unhandledrejection', 'console']),
  message: z.string(),
  stack: z.string().nullish(),
  url: z.string(),
})

/** Sent as text, since a page needs no leave for that. */
const TYPES: ReadonlySet<string> = new Set(['text/plain', 'application/json'])

/** Reads what our script sends. One report that is none leaves the others. */
export function readBeacon(type: string, value: unknown): readonly BrowserReport[] {
  if (!TYPES.has(type)) return []
  const { data } = beacon.safeParse(value)
  if (data === undefined) return []
  const { release } = data
  const deployment_id = typeof release === 'string' && RELEASE.test(release) ? release : null
  return data.reports.slice(0, MAX_REPORTS).flatMap((one) => {
    const report = told.safeParse(one).data
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
