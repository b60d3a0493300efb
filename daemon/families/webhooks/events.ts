import { z } from 'zod'
import { IDENTIFIERS, defineEvents } from '../../events/types.ts'
import { webhookRecord } from './schema.ts'

const WEBHOOK = '01890a5d-ac96-774b-bcce-b302099a8060'

/** Event of the test endpoint. */
export const TEST_EVENT = 'webhook.test'

const webhook_id = z.string()
const { consecutive_failures } = webhookRecord.shape

/** Events of webhooks. The last two are sent to the account's other webhooks that name them. */
export const webhookEvents = defineEvents([
  {
    type: TEST_EVENT,
    scope: IDENTIFIERS,
    description: 'The test endpoint is called.',
    schema: z.strictObject({ webhook_id, message: z.string() }),
    sample: { webhook_id: WEBHOOK, message: 'This is a test.' },
  },
  {
    type: 'webhook.failing',
    scope: IDENTIFIERS,
    description: 'A webhook has reached half of the failures that disable it.',
    schema: z.strictObject({ webhook_id, consecutive_failures }),
    sample: { webhook_id: WEBHOOK, consecutive_failures: 10 },
  },
  {
    type: 'webhook.disabled',
    scope: IDENTIFIERS,
    description: 'A webhook was disabled because it kept failing, or answered 410.',
    schema: z.strictObject({
      webhook_id,
      reason: z.enum(['failures', 'gone']).meta({
        description: 'failures: it kept failing; gone: it answered 410.',
      }),
      consecutive_failures,
    }),
    sample: { webhook_id: WEBHOOK, reason: 'failures', consecutive_failures: 20 },
  },
])
