import { parseArgs } from 'node:util'
import { API_VERSION } from '../../plugins/billing/stripe/client.ts'
import { FAKE_KEY, FAKE_PRICE, FAKE_SECRET, NOTICE } from './names.ts'
import { startFakeStripe } from './server.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '12111' },
    webhook: { type: 'string' },
    currency: { type: 'string', default: 'usd' },
  },
})

const { webhook } = values
const fake = await startFakeStripe({
  port: Number(values.port),
  version: API_VERSION,
  currency: values.currency,
  ...(webhook === undefined ? {} : { webhook }),
})

process.stdout.write(`${NOTICE}. Every page and every response says so.
Events are ${webhook === undefined ? 'held' : `sent to ${webhook}`}. Set up a daemon with:
  KEYHOOK_BILLING=stripe
  KEYHOOK_STRIPE_BASE_URL=${fake.url}
  KEYHOOK_STRIPE_API_KEY=${FAKE_KEY}
  KEYHOOK_STRIPE_WEBHOOK_SECRET=${FAKE_SECRET}
  KEYHOOK_STRIPE_PRICE_PRO=${FAKE_PRICE}
`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void fake.close())
}
