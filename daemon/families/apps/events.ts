import { IDENTIFIERS, defineEvents } from '../../events/types.ts'

const APP = 'k3v9q2m7x4ta'
const AT = '2026-01-31T12:00:00.000Z'

/** Events of apps. The last one is sent to webhooks that name it. */
export const appEvents = defineEvents([
  {
    type: 'app.created',
    scope: IDENTIFIERS,
    description: 'An app is created.',
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
    sample: { app_id: APP, archived_at: AT, purge_at: AT },
  },
  {
    type: 'app.restored',
    scope: IDENTIFIERS,
    description: 'An archived app is restored.',
    sample: { app_id: APP, alias: 'shop' },
  },
])
