import { z } from 'zod'
import { GRACE } from '../../../billing/plan.ts'
import { operation } from '../../../operations/operation.ts'
import { instant, isoOrNull } from '../../wire.ts'

const processorStatus = z
  .strictObject({
    processor: z
      .string()
      .nullable()
      .meta({ description: 'Name of the payment processor; null where nobody takes money.' }),
    waiting: z.int().meta({ description: 'Events that wait to be applied.' }),
    failed: z.int().meta({ description: 'Objects whose events could not be applied.' }),
    swept_at: instant
      .nullable()
      .meta({ description: 'When changes that no event told of were last looked for.' }),
    other_plans: z.int().meta({
      description: 'Accounts whose stored plan is not the one that is paid for.',
    }),
    elsewhere: z.int().meta({
      description: 'Subscriptions that go on at a processor that is not configured.',
    }),
  })
  .meta({ id: 'ProcessorStatus' })

export const getProcessor = operation({
  effect: 'read',
  id: 'billing.processor',
  summary: 'Show what waits of the payment processor, what failed, and whose plan differs',
  method: 'GET',
  path: '/v1/billing/processor',
  access: 'operator',
  agent: { omit: "The operator's; a key cannot call it." },
  emits: ['billing'],
  input: {},
  output: processorStatus,
  errors: ['operator_required'],
  example: {
    response: {
      processor: 'stripe',
      waiting: 0,
      failed: 0,
      swept_at: '2026-11-24T10:00:00.000Z',
      other_plans: 0,
      elsewhere: 0,
    },
  },
  command: 'billing processor',
  async run({ platform, now }) {
    const { payments } = platform.store
    const name = platform.billing.processing?.name ?? null
    const elsewhere = await payments.countElsewhere(name)
    const none = { waiting: 0, failed: 0, swept_at: null, other_plans: 0 }
    if (name === null) return { processor: null, ...none, elsewhere }
    return {
      processor: name,
      waiting: await payments.countWaiting(name),
      failed: await payments.countFailed(name),
      swept_at: isoOrNull((await payments.sweep(name))?.swept_at ?? null),
      other_plans: platform.billing.sellsPlan ? await payments.countOtherPlans(now, GRACE) : 0,
      elsewhere,
    }
  },
})
