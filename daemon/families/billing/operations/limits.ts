import type { z } from 'zod'
import type { Call } from '../../../operations/call.ts'
import { accountOf } from '../../../authority/principal.ts'
import { budgetsOf } from '../../../billing/budgets.ts'
import { operation } from '../../../operations/operation.ts'
import { exampleLimits } from '../examples.ts'
import { isoOrNull } from '../../wire.ts'
import type { limit } from '../schema.ts'
import { limitList } from '../schema.ts'

type Limit = z.input<typeof limit>

export const getLimits = operation({
  effect: 'read',
  id: 'billing.limits',
  summary: 'Show the limits of the caller: what sets each, and when it resets',
  method: 'GET',
  path: '/v1/billing/limits',
  access: { scope: 'billing:read', pinned: 'refused' },
  agent: { toolset: 'billing' },
  emits: ['billing'],
  input: {},
  output: limitList,
  errors: [],
  example: { response: exampleLimits },
  command: 'billing limits',
  async run(call) {
    const { platform, principal, now } = call
    const plan = await platform.billing.planOf(platform.store, accountOf(principal), now)
    return {
      plan,
      data: [
        limitOf('keys.create', 'plan', plan === 'free' ? 0 : null),
        await liveKeys(call),
        rateOf('requests.reads', platform.rates.reads),
        rateOf('requests.writes', platform.rates.writes),
        ...(platform.billing.metered ? await spending(call) : []),
      ],
    }
  },
})

function limitOf(
  name: string,
  source: Limit['source'],
  most: number | null,
  used: number | null = null,
): Limit {
  const remaining = most === null || used === null ? null : Math.max(0, most - used)
  const unset = { window: null, resets_at: null, source_id: null } as const
  return { name, limit: most, used, remaining, source, ...unset }
}

/** Rates are per minute; 0 stands for no limit. */
function rateOf(name: string, most: number): Limit {
  return { ...limitOf(name, 'config', most === 0 ? null : most), window: 'minute' }
}

/** Live keys that are counted one by one. */
const COUNTED_KEYS = 1000

async function liveKeys({ platform, principal, now }: Call): Promise<Limit> {
  const account_id = accountOf(principal)
  const { accounts, keys } = platform.store
  const own = (await accounts.get(account_id))?.key_limit ?? null
  const most = own ?? platform.keyLimit
  const asked = { account_id, live_at: now, within: null, after: null, limit: COUNTED_KEYS }
  const { rows, more } = await keys.list(asked)
  return limitOf('keys.live', own === null ? 'config' : 'account', most, more ? null : rows.length)
}

/** What limits spending: the balance, the range of a top-up, and each budget above a calling key. */
async function spending({ platform, principal, now }: Call): Promise<readonly Limit[]> {
  const { billing, store } = platform
  const account_id = accountOf(principal)
  const { topup } = billing.prices.at(now)
  const by = principal.type === 'key' ? { type: 'key' as const, id: principal.key.id } : null
  const budgets = by === null ? [] : await budgetsOf(store.keys, account_id, by)
  const [balance, ...left] = await store.ledger.limits(account_id, budgets, now)
  return [
    { ...limitOf('balance', 'account', balance.available, 0) },
    limitOf('topup.minimum', 'prices', topup.min_micros),
    limitOf('topup.maximum', 'prices', topup.max_micros),
    ...budgets.map(({ key_id, monthly_micros }, at) => ({
      ...limitOf(
        'budget.monthly',
        'key' as const,
        monthly_micros,
        monthly_micros - (left[at]?.available ?? 0),
      ),
      window: 'month' as const,
      resets_at: isoOrNull(left[at]?.resets_at ?? null),
      source_id: key_id,
    })),
  ]
}
