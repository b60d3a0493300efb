import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { receiveEvent } from '../../daemon/billing/payments/intake.ts'
import type { MemoryProcessor } from '../../plugins/billing/memory.ts'
import { until } from '../support/daemon.ts'
import { ACCOUNT, openKeyhook } from '../support/embedded-shop.ts'

/** A module that an embedder names, over the processor in memory. */
const PROCESSOR = `
  import { createMemoryProcessor } from ${JSON.stringify(
    new URL('../../plugins/billing/memory.js', import.meta.url).href,
  )}
  export let memory
  export const paymentProcessor = {
    name: 'memory',
    settings: [],
    origins: () => [],
    open: async ({ clock }) => (memory = createMemoryProcessor({ clock })),
  }
`

await t.test('where a processor sells the plan, it follows the subscription', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'processor.mjs')
  await writeFile(file, PROCESSOR)
  const keyhook = await openKeyhook(t, folder, { billing: file })
  const account = keyhook.as(ACCOUNT)
  const plan = async (): Promise<string> => (await account.billing.wallet()).plan
  t.equal(await plan(), 'free', 'also without a record of the account')
  t.match(await keyhook.accounts.update(ACCOUNT, { key_limit: 5 }), { plan: 'free' })
  await t.rejects(keyhook.accounts.update(ACCOUNT, { plan: 'pro' }), {
    status: 409,
    code: 'plan_managed',
  })

  const other = keyhook.as('acct_2')
  const { session_id } = await other.billing.subscribe({ plan: 'pro' })
  const { memory } = (await import(pathToFileURL(file).href)) as { memory: MemoryProcessor }
  await memory.till.pay(session_id)
  const { processing } = keyhook.platform.billing
  for (const event of await memory.till.take()) {
    if (processing !== undefined) await receiveEvent(keyhook.platform, processing, event)
  }
  const subscribed = async (): Promise<boolean> => (await other.billing.wallet()).plan === 'pro'
  await until('the subscription is applied, although nothing is dispatched', subscribed)
  const { data } = await other.events.list({ type: 'billing.subscription_changed' })
  t.match(data, [{ data: { plan: 'pro', previous_plan: 'free' } }])
})

await t.test('the plan of an account is set in code', async (t) => {
  const keyhook = await openKeyhook(t, t.testdir())
  const account = keyhook.as(ACCOUNT)
  const mint = () => account.keys.create({ name: 'CI', scopes: ['keys:read'] })
  const { update } = keyhook.accounts
  t.same(await update(ACCOUNT, { key_limit: 5 }), { id: ACCOUNT, key_limit: 5, plan: 'pro' })
  await mint()
  t.same(await update(ACCOUNT, { plan: 'free' }), { id: ACCOUNT, key_limit: 5, plan: 'free' })
  await t.rejects(mint(), { status: 403, code: 'dev_api_not_enabled' })
  t.same(await update('acct_2', { plan: 'free' }), { id: 'acct_2', key_limit: null, plan: 'free' })
  const changes = { key_limit: null, plan: 'pro' } as const
  t.same(await update(ACCOUNT, changes), { id: ACCOUNT, ...changes })
  await mint()
  const { data } = await account.audit.list({ action: 'account.plan_changed' })
  t.equal(data.length, 2)
  const loose = update as (...args: readonly unknown[]) => Promise<unknown>
  for (const wrong of [{}, undefined, { plan: 'gold' }, { plan: undefined }, { plans: 'pro' }]) {
    await t.rejects(loose(ACCOUNT, wrong), { name: 'TypeError' })
  }
})
