import { z } from 'zod'
import { IDENTIFIERS, defineEvents } from '../../events/types.ts'
import { instant } from '../wire.ts'
import { appRecord } from './schema.ts'

const APP = 'k3v9q2m7x4ta'
const AT = '2026-01-31T12:00:00.000Z'

const { alias, source } = appRecord.shape
const app_id = z.string()

/** Events of apps. The last one is sent to webhooks that name it. */
export const appEvents = defineEvents([
  {
    type: 'app.created',
    scope: IDENTIFIERS,
    description: 'An app is created.',
    schema: z.strictObject({
      app_id,
      alias,
      status: z
        .enum(['creating', 'ready'])
        .meta({ description: 'creating: from a prompt, until its first edit ends.' }),
      source_kind: source.shape.kind,
      edit_id: z
        .string()
        .nullable()
        .meta({ description: 'Edit that generates it; null unless it is made from a prompt.' }),
    }),
    sample: {
      app_id: APP,
      alias: 'shop',
      status: 'ready',
      source_kind: 'template',
      edit_id: null,
    },
  },
  {
    type: 'app.deleted',
    scope: IDENTIFIERS,
    description: 'An app is deleted: archived, and restorable until it is purged.',
    schema: z.strictObject({
      app_id,
      archived_at: instant,
      purge_at: instant.meta({ description: 'Time when it is deleted; restorable until then.' }),
    }),
    sample: { app_id: APP, archived_at: AT, purge_at: AT },
  },
  {
    type: 'app.restored',
    scope: IDENTIFIERS,
    description: 'An archived app is restored.',
    schema: z.strictObject({
      app_id,
      alias: alias.meta({ description: 'Null without one, or when another app took it.' }),
    }),
    sample: { app_id: APP, alias: 'shop' },
  },
])
