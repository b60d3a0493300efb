/**
 * Stripe as the payment processor, over its package and the guarded `fetch`.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import {
  type PaymentProcessor,
  type PaymentProcessorPlugin,
  ProcessorError,
  type ProcessorPorts,
} from './contract.ts'
import { isCertain } from './stripe/amounts.ts'
import * as changes from './stripe/changes.ts'
import { checkPrice, identify } from './stripe/check.ts'
import { createStripeClient } from './stripe/client.ts'
import { receiveEvent } from './stripe/events.ts'
import { fetchFacts } from './stripe/fetch.ts'
import { readBaseUrl, readSettings, SETTINGS } from './stripe/settings.ts'
import { changedPage } from './stripe/sweep.ts'

/** Built in as `stripe`. */
export const stripe: PaymentProcessorPlugin = {
  name: 'stripe',
  settings: SETTINGS,
  origins: (settings) => [readBaseUrl(settings).origin],
  open: async (ports) => openStripe(ports),
}

function openStripe(ports: ProcessorPorts): PaymentProcessor {
  const { currency } = ports
  const settings = readSettings(ports.settings)
  if (!isCertain(currency)) {
    const internal = `Stripe's amounts of the currency ${currency} are not certain`
    throw new ProcessorError('misconfigured', { internal })
  }
  const client = createStripeClient(settings, ports)
  const { proPrices, webhookSecrets } = settings
  const [sold] = proPrices
  const offer = { currency, pricePro: sold }
  return {
    capabilities: { subscriptions: true, portal: true, paymentMethods: true },
    createCustomer: (given) => changes.createCustomer(client, given),
    createCheckout: (asked) => changes.createCheckout(client, asked, offer),
    usePaymentMethod: (id, key) => changes.usePaymentMethod(client, id, key),
    cancelSubscription: (id, key) => changes.cancelSubscription(client, id, key),
    openPortal: (given) => changes.openPortal(client, given, `keyhook-portal-${randomUUID()}`),
    receive: (given) => receiveEvent(client.webhooks, webhookSecrets, given),
    fetchFacts: (ref, signal) => fetchFacts(client, ref, proPrices, signal),
    changedSince: (since, cursor, signal) => changedPage(client, since, cursor, signal),
    check: (plan, signal) => checkPrice(client, sold, plan, signal),
    identify: (signal) => identify(client, settings.live, signal),
    close: async () => client.close(),
  }
}
