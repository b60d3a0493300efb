import { z } from 'zod'
import type { Instant } from '../../../../lib/time.ts'
import { DAY, toIso } from '../../../../lib/time.ts'
import type {
  Meter,
  ObservedKind,
  UsageRecord,
} from '../../../../plugins/platform/contract/observations.ts'
import { METERS } from '../../../../plugins/platform/contract/observations.ts'
import { operation } from '../../../operations/operation.ts'
import { instant, isoOrNull } from '../../wire.ts'
import { appParams, exampleApp } from '../schema.ts'
import { findApp } from '../service.ts'

const UNITS: Readonly<Record<Meter, 'requests' | 'bytes'>> = {
  requests: 'requests',
  errors: 'requests',
  not_found: 'requests',
  egress_bytes: 'bytes',
}

const total = z.strictObject({ total: z.int() })
const counters = z.strictObject({
  requests: z.int(),
  errors: z.int().meta({ description: 'Responses with status 500 or more.' }),
  not_found: z.int().meta({ description: 'Responses with status 404.' }),
  egress_bytes: z.int().meta({ description: 'Response body bytes sent.' }),
})

const hostingUsage = z
  .strictObject({
    app_id: z.string(),
    period: z.strictObject({ start: instant, end: instant }),
    as_of: instant.nullable().meta({
      description:
        'Time of the latest counted request; null for none. Requests are counted a few seconds later.',
    }),
    meters: z.array(
      z.strictObject({
        meter: z.enum(METERS),
        unit: z.enum(['requests', 'bytes']),
        published: total,
        preview: total,
      }),
    ),
    daily: z.array(
      z.strictObject({
        date: z.string().meta({ format: 'date', description: 'Day in UTC.' }),
        published: counters,
        preview: counters,
      }),
    ),
  })
  .meta({ id: 'HostingUsage' })

const NOTHING = { requests: 0, errors: 0, not_found: 0, egress_bytes: 0 }
const exampleCounters = { requests: 120, errors: 0, not_found: 3, egress_bytes: 578_520 }

export const getHostingUsage = operation({
  effect: 'read',
  id: 'apps.hosting_usage',
  summary: 'Read the hosting usage of an app in a month, by day, for release and preview',
  method: 'GET',
  path: '/v1/apps/{app_id}/hosting-usage',
  access: { scope: 'apps:read', pinned: 'allowed' },
  agent: { toolset: 'apps' },
  emits: ['apps'],
  input: {
    params: appParams,
    query: z.strictObject({
      month: z
        .string()
        .regex(/^20[0-9]{2}-(0[1-9]|1[0-2])$/, 'Must be a month, such as 2030-01.')
        .optional()
        .meta({ description: 'Month in UTC. Default: the current one.' }),
    }),
  },
  output: hostingUsage,
  errors: ['app_not_found'],
  example: {
    params: { app_id: exampleApp.id },
    query: { month: '2026-01' },
    response: {
      app_id: exampleApp.id,
      period: { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' },
      as_of: '2026-01-01T12:00:00.000Z',
      meters: METERS.map((meter) => ({
        meter,
        unit: UNITS[meter],
        published: { total: exampleCounters[meter] },
        preview: { total: 0 },
      })),
      daily: [{ date: '2026-01-01', published: exampleCounters, preview: NOTHING }],
    },
  },
  command: 'app usage',
  async run({ platform, principal, params, query, now }) {
    const { apps, observations } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const { start, end } = monthOf(query.month ?? toIso(now).slice(0, 7))
    const usage = await observations.usage(app.id, dayOf(start), dayOf(end))
    return {
      app_id: app.id,
      period: { start: toIso(start), end: toIso(end) },
      as_of: isoOrNull(usage.reduce<Instant | null>(later, null)),
      meters: METERS.map((meter) => ({
        meter,
        unit: UNITS[meter],
        published: { total: sum(usage, 'published', meter) },
        preview: { total: sum(usage, 'preview', meter) },
      })),
      daily: daysFrom(start, Math.min(end, now + 1)).map((date) => {
        const ofDay = usage.filter(({ day }) => day === date)
        return {
          date,
          published: countersOf(ofDay, 'published'),
          preview: countersOf(ofDay, 'preview'),
        }
      }),
    }
  },
})

function monthOf(month: string): { readonly start: Instant; readonly end: Instant } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return { start: Date.UTC(year, number - 1), end: Date.UTC(year, number) }
}

function dayOf(at: Instant): string {
  return toIso(at).slice(0, 10)
}

/** The days that began before an instant. */
function daysFrom(start: Instant, before: Instant): readonly string[] {
  const days: string[] = []
  for (let at = start; at < before; at += DAY) days.push(dayOf(at))
  return days
}

function later(latest: Instant | null, { as_of }: UsageRecord): Instant {
  return Math.max(latest ?? 0, as_of)
}

function sum(usage: readonly UsageRecord[], kind: ObservedKind, meter: Meter): number {
  return usage.reduce(
    (sum, one) => (one.kind === kind && one.meter === meter ? sum + one.total : sum),
    0,
  )
}

function countersOf(usage: readonly UsageRecord[], kind: ObservedKind): Record<Meter, number> {
  return {
    requests: sum(usage, kind, 'requests'),
    errors: sum(usage, kind, 'errors'),
    not_found: sum(usage, kind, 'not_found'),
    egress_bytes: sum(usage, kind, 'egress_bytes'),
  }
}
