import { toIso } from '../../../../lib/time.ts'
import { operation } from '../../../operations/operation.ts'
import { examplePricing } from '../examples.ts'
import { pricing } from '../schema.ts'

const FREE = {
  id: 'free',
  price_micros: 0,
  interval: null,
  monthly_credit_micros: 0,
  credit_expires_days: null,
} as const

export const getPricing = operation({
  effect: 'read',
  id: 'billing.pricing',
  summary: 'Show the prices in effect',
  method: 'GET',
  path: '/v1/billing/pricing',
  access: 'public',
  agent: { toolset: 'billing', resource: true },
  emits: ['billing'],
  input: {},
  output: pricing,
  errors: [],
  example: { response: examplePricing },
  cache: { seconds: 300 },
  command: 'billing pricing',
  async run({ platform, now }) {
    const { mode, metered, currency, prices } = platform.billing
    const { version, effective_at, plans, topup, operations } = prices.at(now)
    return {
      mode,
      currency,
      version,
      effective_at: toIso(effective_at),
      plans: [FREE, { id: 'pro' as const, interval: 'month' as const, ...plans.pro }],
      topup: { ...topup },
      // Where nothing is charged every price is 0.
      operations: Object.entries(operations).map(([operation, price]) => ({
        operation,
        ...price,
        ...(metered ? {} : { price_micros: 0, minimum_micros: 0 }),
        billable: metered && (price.price_micros > 0 || price.minimum_micros > 0),
      })),
      versions: prices.versions.map((one) => ({
        version: one.version,
        effective_at: toIso(one.effective_at),
      })),
    }
  },
})
