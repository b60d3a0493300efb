import { z } from 'zod'
import { operation } from '../../../operations/operation.ts'
import { appParams } from '../../apps/schema.ts'
import { findApp } from '../../apps/service.ts'
import { instant, isoOrNull } from '../../wire.ts'
import { HEALTH_STATUSES, examine } from '../health.ts'
import { env, exampleLine, exampleParams } from '../log-schema.ts'

const share = z.number().min(0).max(1).nullable()

const health = z
  .strictObject({
    app_id: z.string(),
    env,
    status: z
      .enum(HEALTH_STATUSES)
      .meta({ description: 'Health; offline when nothing is served.' }),
    checks: z.array(
      z.strictObject({
        name: z.enum(['page', 'requests']),
        status: z.enum(['pass', 'fail', 'unknown']),
        latency_ms: z.int().nullable(),
        message: z.string().nullable(),
      }),
    ),
    uptime_24h: share.meta({ description: 'Share of passed checks in the last 24 hours.' }),
    error_rate_5m: share.meta({
      description: 'Share of failed requests in the last five minutes, of at most 5,000.',
    }),
    deployment_id: z
      .string()
      .nullable()
      .meta({ description: 'Live deployment; null when none is.' }),
    checked_at: instant.nullable().meta({ description: 'Time of the last check.' }),
  })
  .meta({ id: 'Health' })

export const getHealth = operation({
  effect: 'read',
  id: 'observe.health',
  summary: 'Read the health of an app: availability and failed requests',
  method: 'GET',
  path: '/v1/apps/{app_id}/health',
  access: { scope: 'observe:read', pinned: 'allowed' },
  agent: {
    toolset: 'observe',
    default: true,
    resource: true,
    skill: {
      name: "Watch an app's health",
      tags: ['health', 'availability', 'errors'],
      examples: ['Is the shop healthy?'],
    },
  },
  emits: ['observe'],
  input: {
    params: appParams,
    query: z.strictObject({
      env: env.optional().meta({ description: 'Environment. Default published.' }),
    }),
  },
  output: health,
  errors: ['app_not_found'],
  example: {
    params: exampleParams,
    response: {
      app_id: exampleParams.app_id,
      env: 'published',
      status: 'healthy',
      checks: [
        { name: 'page', status: 'pass', latency_ms: 4, message: null },
        {
          name: 'requests',
          status: 'pass',
          latency_ms: null,
          message: '0 of 120 requests of the last five minutes failed.',
        },
      ],
      uptime_24h: 1,
      error_rate_5m: 0,
      deployment_id: exampleLine.deployment_id,
      checked_at: exampleLine.at,
    },
  },
  command: 'app health',
  async run({ platform, principal, params, query, now }) {
    const { apps, deployments, observations } = platform.store
    const app = await findApp(apps, principal, params.app_id)
    const kind = query.env ?? 'published'
    const live = kind === 'published' ? await deployments.live(app.id) : undefined
    const isThere = app.archived_at === null && (kind === 'preview' || live !== undefined)
    const found = await examine(observations, app.id, kind, now)
    return {
      app_id: app.id,
      env: kind,
      status: isThere ? found.status : 'offline',
      checks: isThere ? found.checks.map((check) => ({ ...check })) : [],
      uptime_24h: found.uptime,
      error_rate_5m: found.error_rate,
      deployment_id: live?.id ?? null,
      checked_at: isoOrNull(found.checked_at),
    }
  },
})
