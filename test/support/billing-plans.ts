import { randomUUID } from 'node:crypto'
import { DAY, SECOND } from '../../lib/time.ts'
import type { BillingDoing } from '../crash/billing-failpoints.ts'
import { sampleHold } from '../platform/ledger-samples.ts'
import type { BillingPlan, BillingStage } from './billing-stage.ts'
import { REQUEST } from './billing-stage.ts'
import { until } from './daemon.ts'

const TOPUP = 10_000_000
const PRO = 25_000_000
const GRANT = 3_000_000
const SPENT = 7_000_000
/** Requests to an app on a day. */
const SERVED = 7
/** The default price of a prompt. */
const EDIT = 100_000
/** An operation is not repeated for so long. */
const SOON = 300

/** Who pays for Pro in every month, and works with a key that has a budget. */
export interface Subscriber {
  readonly account: string
  readonly subscription: string
  readonly key: string
  readonly app: string
  /** What the account must have. */
  balance: number
}

/** An account that is paid for, with a key and an app. */
export async function subscribe(stage: BillingStage): Promise<Subscriber> {
  const account = await stage.addAccount()
  await planPro(stage, account).run()
  const subscription = stage.fake.state.all('subscriptions')[0]?.id ?? ''
  const given = { name: 'agent', scopes: ['edits:*'], monthly_budget_micros: PRO }
  const { key } = await stage.ask(account, 'POST', '/v1/keys', given)
  const { id } = await stage.ask(account, 'POST', '/v1/apps', { template_id: 'blank' })
  return { account, subscription, key: String(key), app: String(id), balance: PRO }
}

function planPro(stage: BillingStage, account: string): BillingPlan {
  const key = randomUUID()
  return {
    async run() {
      const asked = await stage.ask(account, 'POST', '/v1/billing/subscribe', { plan: 'pro' }, key)
      await payOnce(stage, String(asked['session_id']))
      await stage.deliver()
      await stage.untilBalance(account, PRO)
      await until('the plan is Pro', async () => {
        const { plan } = await stage.ask(account, 'GET', '/v1/billing/wallet')
        return plan === 'pro'
      })
    },
  }
}

async function payOnce({ fake, till }: BillingStage, session: string): Promise<void> {
  if (fake.state.get('sessions', session).status === 'open') await till.pay(session)
}

interface TopupPlan extends BillingPlan {
  readonly account: string
  /** Of the payment; once it was paid. */
  charge(): string
}

async function planTopup(stage: BillingStage, isLost = false): Promise<TopupPlan> {
  const account = await stage.addAccount()
  const key = randomUUID()
  let session = ''
  return {
    account,
    async run() {
      const body = { amount_micros: TOPUP }
      const { id } = await stage.ask(account, 'POST', '/v1/billing/topup', body, key)
      const sessions = stage.fake.state.all('sessions')
      session = sessions.find(({ client_reference_id }) => client_reference_id === id)?.id ?? ''
      await payOnce(stage, session)
      if (isLost) return void (await stage.till.take())
      await stage.deliver()
      await stage.untilBalance(account, TOPUP)
    },
    charge() {
      const { state } = stage.fake
      const { payment_intent: intent } = state.get('sessions', session)
      return state.get('payment_intents', intent ?? '').latest_charge ?? ''
    },
  }
}

/** A top-up most of which was spent. */
async function spentTopup(stage: BillingStage): Promise<TopupPlan> {
  const topup = await planTopup(stage)
  await topup.run()
  const { account } = topup
  await hold(stage, account, SPENT, Date.now() + 60 * SECOND)
  const work = { account_id: account, operation_id: account }
  const charge = { amount: SPENT, quantity: 1 }
  await stage.store.write((tx) => tx.ledger.capture(work, () => charge, Date.now()))
  return topup
}

async function hold(
  { store }: BillingStage,
  account_id: string,
  amount: number,
  deadline_at: number,
): Promise<void> {
  const given = { account_id, id: randomUUID(), amount, deadline_at, now: Date.now() }
  await store.write((tx) => tx.ledger.hold([sampleHold(account_id, given)], []))
}

/** Something that happens once, of which the processor tells. */
function planFact(
  stage: BillingStage,
  happen: () => Promise<unknown>,
  isThere: () => Promise<void>,
): BillingPlan {
  let happened = false
  return {
    async run() {
      if (!happened) await happen()
      happened = true
      await stage.deliver()
      await isThere()
    },
  }
}

function planEdit(stage: BillingStage, own: Subscriber, isGood: boolean): BillingPlan {
  const key = randomUUID()
  const page = `page-${key}.html`
  const text = `SUMMARY: Adds a page.\n\nFILE ${page}\n\`\`\`\n<h1>Page</h1>\n\`\`\`\n`
  const marker = stage.model.script(isGood ? { text } : { text: '', refusal: 'No.' })
  const balance = own.balance - (isGood ? EDIT : 0)
  const edits = `/v1/apps/${own.app}/edits`
  return {
    async run() {
      const body = { prompt: `Add a page. ${marker}` }
      const { id } = await stage.ask(own.key, 'POST', edits, body, key)
      const wanted = isGood ? 'completed' : 'failed'
      await until(`the edit is ${wanted}`, async () => {
        const { status, error } = await stage.ask(own.key, 'GET', `${edits}/${String(id)}`)
        const isOver = status === 'completed' || status === 'failed' || status === 'canceled'
        if (isOver && status !== wanted) throw new Error(`it ${status}: ${JSON.stringify(error)}`)
        return status === wanted
      })
      await stage.untilBalance(own.account, balance)
      own.balance = balance
    },
  }
}

/** What brings a daemon to the failpoints of each kind. */
export const BILLING_PLANS: Readonly<
  Record<BillingDoing, (stage: BillingStage, own: Subscriber) => Promise<BillingPlan>>
> = {
  topup: (stage) => planTopup(stage),
  pro: async (stage) => planPro(stage, await stage.addAccount()),
  async month(stage, own) {
    const balance = own.balance + PRO
    return planFact(
      stage,
      () => stage.till.cycle(own.subscription, 'paid'),
      async () => {
        await stage.untilBalance(own.account, balance)
        own.balance = balance
      },
    )
  },
  edit: async (stage, own) => planEdit(stage, own, true),
  'failed edit': async (stage, own) => planEdit(stage, own, false),
  async refund(stage) {
    const topup = await spentTopup(stage)
    return planFact(
      stage,
      () => stage.till.refund(topup.charge(), TOPUP),
      () => stage.untilBalance(topup.account, 0),
    )
  },
  async win(stage) {
    const topup = await spentTopup(stage)
    const { account } = topup
    const dispute = await stage.till.dispute(topup.charge(), TOPUP)
    await stage.deliver()
    await stage.untilBalance(account, 0)
    // Of it, the debt is paid.
    await stage.ask(account, 'POST', '/v1/billing/credits', { amount_micros: GRANT })
    return planFact(
      stage,
      () => stage.till.win(dispute),
      () => stage.untilBalance(account, TOPUP - SPENT + GRANT),
    )
  },
  async grant(stage) {
    const account = await stage.addAccount()
    const key = randomUUID()
    return {
      async run() {
        await stage.ask(account, 'POST', '/v1/billing/credits', { amount_micros: GRANT }, key)
        await stage.untilBalance(account, GRANT)
      },
    }
  },
  async revoke(stage) {
    const account = await stage.addAccount()
    const given = { amount_micros: GRANT }
    const { id } = await stage.ask(account, 'POST', '/v1/billing/credits', given)
    const key = randomUUID()
    return {
      async run() {
        await stage.ask(account, 'POST', `/v1/billing/credits/${String(id)}/revoke`, undefined, key)
        await stage.untilBalance(account, 0)
      },
    }
  },
  async 'lost events'(stage) {
    const topup = await planTopup(stage, true)
    await topup.run()
    return {
      async run() {
        await stage.sweepNow('payments')
        await stage.untilBalance(topup.account, TOPUP)
      },
    }
  },
  async 'lost work'(stage) {
    const topup = await planTopup(stage)
    await topup.run()
    await hold(stage, topup.account, SPENT, Date.now() + SOON)
    return {
      async run() {
        await new Promise((resolve) => setTimeout(resolve, SOON))
        await stage.sweepNow('ledger')
        await until('the hold has ended', async () => {
          const work = { account_id: topup.account, operation_id: topup.account }
          return (await stage.store.ledger.getHold(work))?.state === 'expired'
        })
        await stage.untilBalance(topup.account, TOPUP)
      },
    }
  },
  async 'hosted day'(stage) {
    const account = await stage.addAccount()
    await stage.ask(account, 'POST', '/v1/billing/credits', { amount_micros: GRANT })
    const { id } = await stage.ask(account, 'POST', '/v1/apps', { template_id: 'blank' })
    const day = new Date(Date.now() - 3 * DAY).toISOString().slice(0, 10)
    const counter = { app_id: String(id), day, kind: 'published', meter: 'requests' } as const
    await stage.store.write((tx) =>
      tx.observations.addUsage([{ ...counter, amount: SERVED }], Date.now()),
    )
    return {
      async run() {
        // A daemon charges what is due with its first sweep, and each hour.
        await stage.daemon.killAfter(0, Promise.resolve())
        await stage.sweepNow('ledger')
        await until('the day is charged', async () => {
          const wallet = await stage.ask(account, 'GET', '/v1/billing/wallet')
          return wallet['balance_micros'] === GRANT - SERVED * REQUEST
        })
      },
    }
  },
  async 'old credit'(stage) {
    const account = await stage.addAccount()
    const expires_at = new Date(Date.now() + 2 * SECOND).toISOString()
    const given = { amount_micros: GRANT, expires_at }
    await stage.ask(account, 'POST', '/v1/billing/credits', given)
    await new Promise((resolve) => setTimeout(resolve, 2 * SECOND))
    return {
      async run() {
        await stage.sweepNow('ledger')
        await until('its expiry is posted', async () => {
          const { kinds } = await kindsOf(stage, account)
          return kinds.includes('expiry')
        })
      },
    }
  },
}

async function kindsOf(
  stage: BillingStage,
  account: string,
): Promise<{ readonly kinds: readonly unknown[] }> {
  const { data } = await stage.ask(account, 'GET', '/v1/billing/ledger')
  return { kinds: (data as readonly { readonly kind: string }[]).map(({ kind }) => kind) }
}
