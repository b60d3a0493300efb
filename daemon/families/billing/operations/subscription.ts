import { z } from 'zod'
import { accountOf } from '../../../authority/principal.ts'
import { enqueueObject } from '../../../billing/payments/enqueue.ts'
import { decidingSubscription } from '../../../billing/plan.ts'
import { operation } from '../../../operations/operation.ts'
import { audit } from '../../audit/note.ts'
import { anyText } from '../../wire.ts'
import { askProcessor, requireProcessing } from '../ask-processor.ts'
import { returnUrl } from '../checkout.ts'
import { billingError } from '../errors.ts'
import { exampleSubscription } from '../examples.ts'
import { subscriptionRecord } from '../schema.ts'
import { toWireSubscription } from '../show.ts'

export const cancelSubscription = operation({
  effect: 'own',
  id: 'billing.cancel',
  summary: 'End each subscription of the account with the period that is paid for',
  method: 'DELETE',
  path: '/v1/billing/subscription',
  access: 'owner',
  agent: { omit: 'A signed-in owner pays; a key cannot.' },
  emits: ['billing'],
  input: {},
  output: subscriptionRecord,
  errors: ['owner_required', 'not_subscribed', 'billing_not_configured', 'processor_unavailable'],
  example: {
    response: { ...exampleSubscription, cancel_at: exampleSubscription.current_period_end },
  },
  stepUp: true,
  command: 'billing cancel',
  async run(call) {
    const { platform, principal, requestId } = call
    const { name, processor } = requireProcessing(platform, 'subscriptions')
    const account_id = accountOf(principal)
    const subscriptions = await platform.store.payments.subscriptions(account_id)
    const live = subscriptions.filter(
      ({ status, processor: of }) => of === name && (status === 'active' || status === 'past_due'),
    )
    const shown = decidingSubscription(live, platform.clock.now()) ?? live[0]
    if (shown === undefined) throw billingError('not_subscribed')
    // An account may have come to several: each of them would be charged again.
    for (const { id, cancel_at } of live) {
      if (cancel_at !== null) continue
      const key = `keyhook-cancel-${requestId}-${id}`
      await askProcessor(() => processor.cancelSubscription(id, key))
      await call.unit(
        async (tx) => {
          const now = platform.clock.now()
          const occasion = { processor: name, source: 'request', type: 'cancel', now } as const
          const ref = { kind: 'subscription', id } as const
          await enqueueObject(platform, tx, ref, { ...occasion, event_id: null })
          await audit(
            { ...call, tx, now },
            {
              account_id,
              action: 'billing.subscription_canceled',
              target_type: 'subscription',
              target_id: id,
            },
          )
        },
        { detached: true },
      )
    }
    platform.workAvailable.jobs('billing_event')
    return toWireSubscription({ ...shown, cancel_at: shown.cancel_at ?? shown.current_period_end })
  },
})

export const openPortal = operation({
  effect: 'own',
  id: 'billing.portal',
  summary: "Open the payment processor's page of the account",
  method: 'POST',
  path: '/v1/billing/portal',
  access: 'owner',
  agent: { omit: 'A signed-in owner pays; a key cannot.' },
  emits: ['billing'],
  input: {
    body: z.strictObject({
      return_url: anyText(2048)
        .min(1)
        .optional()
        .meta({ description: 'Address of this service to return to.' }),
    }),
  },
  output: z.strictObject({ url: z.string() }).meta({ id: 'BillingPortal' }),
  status: 201,
  errors: [
    'owner_required',
    'not_subscribed',
    'return_url_not_allowed',
    'billing_not_configured',
    'processor_unavailable',
  ],
  example: { body: {}, response: { url: 'https://billing.stripe.com/p/session/test_a1' } },
  stepUp: true,
  command: 'billing portal',
  async run(call) {
    const { platform, principal, body } = call
    const { name, processor } = requireProcessing(platform, 'portal')
    const return_url = returnUrl(platform, body.return_url)
    const account_id = accountOf(principal)
    const customer = await platform.store.payments.customer(account_id, name)
    if (customer === undefined) throw billingError('not_subscribed')
    const { customer_id } = customer
    const { url } = await askProcessor(() => processor.openPortal({ customer_id, return_url }))
    await call.unit((tx) =>
      audit(
        { ...call, tx, now: platform.clock.now() },
        {
          account_id,
          action: 'billing.portal_opened',
          target_type: 'account',
          target_id: account_id,
        },
      ),
    )
    return { url }
  },
})
