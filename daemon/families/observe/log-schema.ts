import { z } from 'zod'
import { toIso } from '../../../lib/time.ts'
import type { AccessLine } from '../../../plugins/platform/contract/observations.ts'
import { OBSERVED_KINDS } from '../../../plugins/platform/contract/observations.ts'
import { exampleApp } from '../apps/schema.ts'
import { instant, pageOf } from '../wire.ts'

export const env = z
  .enum(OBSERVED_KINDS)
  .meta({ description: 'Environment: the live release or the preview.' })

export const logLine = z
  .strictObject({
    id: z.string(),
    at: instant,
    source: z.enum(['access']),
    level: z.enum(['info', 'warn', 'error']),
    env,
    message: z.string(),
    request_id: z.string(),
    deployment_id: z.string().nullable(),
    request: z.strictObject({
      method: z.string(),
      path: z.string().meta({ description: 'Path without query string.' }),
      status: z.int(),
      bytes: z.int().meta({ description: 'Response body bytes sent.' }),
      took_ms: z.int(),
    }),
  })
  .meta({ id: 'LogLine' })

export const logPage = pageOf(logLine)

export type LogLine = z.input<typeof logLine>

export function toWireLine(line: AccessLine): LogLine {
  const { method, path, status, bytes, took_ms } = line
  return {
    id: line.id,
    at: toIso(line.at),
    source: 'access',
    level: levelOf(status),
    env: line.kind,
    message: `${method} ${path} ${status}`,
    request_id: line.request_id,
    deployment_id: line.deployment_id,
    request: { method, path, status, bytes, took_ms },
  }
}

function levelOf(status: number): LogLine['level'] {
  if (status >= 500) return 'error'
  return status >= 400 ? 'warn' : 'info'
}

/** Shared by examples. */
export const exampleLine = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  at: '2026-01-31T12:00:00.000Z',
  source: 'access',
  level: 'info',
  env: 'published',
  message: 'GET /hours.html 200',
  request_id: 'req_01890a5dac96774bbcceb302',
  deployment_id: '01890a5d-ac96-774b-bcce-b302099a8058',
  request: { method: 'GET', path: '/hours.html', status: 200, bytes: 4821, took_ms: 3 },
} as const

export const exampleParams = { app_id: exampleApp.id } as const
