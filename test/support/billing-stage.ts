import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { DEFAULT_PRICES } from '../../daemon/billing/prices.ts'
import { API_VERSION } from '../../plugins/billing/stripe/client.ts'
import type { Delivery } from '../../plugins/billing/conformance.ts'
import type { Arrangement } from '../../plugins/billing/memory/arrange.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { SqlClient } from '../../plugins/store/sql/client.ts'
import { HOUR, MINUTE } from '../../lib/time.ts'
import type { FakeStripe } from '../fake-stripe/fake.ts'
import { startFakeStripe } from '../fake-stripe/server.ts'
import type { FakeTill } from '../fake-stripe/till.ts'
import { tillOf } from '../fake-stripe/till.ts'
import type { Env } from './daemon.ts'
import { until } from './daemon.ts'
import type { FakeModel } from './fake-model.ts'
import { FAKE_MODEL, startFakeModel } from './fake-model.ts'
import type { MortalDaemon, Row } from './mortal-daemon.ts'
import { startMortalDaemon } from './mortal-daemon.ts'
import { settingsOf } from './stripe.ts'

/** Something of money that is asked for, and can be asked for again however far it came. */
export interface BillingPlan {
  /** Brings it to its end. */
  run(): Promise<void>
}

/** A daemon that can be killed, a fake of Stripe and of a model in the test's process, and a second connection. */
export interface BillingStage {
  readonly daemon: MortalDaemon
  readonly fake: FakeStripe
  readonly till: FakeTill
  readonly model: FakeModel
  /** Of the daemon's database. */
  readonly store: PlatformStore
  addAccount(): Promise<string>
  /** As the operator for an account, or with a key; rejects for a refusal. */
  ask(as: string, method: string, path: string, body?: object, key?: string): Promise<Row>
  /** Sends what happened at the fake, repeated and in any order, until each was taken. */
  deliver(how?: Arrangement): Promise<void>
  /** Makes the sweep due: of what has expired, and of what changed at the processor too. */
  sweepNow(of: 'ledger' | 'payments'): Promise<void>
  untilBalance(account: string, micros: number): Promise<void>
  /** Kills a daemon where `kill` does, and has the plan ended by the next one. */
  killIn(plan: BillingPlan, kill: (run: () => Promise<void>) => Promise<void>): Promise<void>
  /** What is not as it must be, now that nothing is under way. */
  wrong(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Micros of a minor unit of the fake's currency. */
const CENT = 10_000

/** Micros of a request to an app. */
export const REQUEST = 1000

const [DEFAULT] = DEFAULT_PRICES.versions
const PRICES = {
  ...DEFAULT,
  version: 'crash-1',
  effective_at: '1970-01-01T00:00:00Z',
  operations: {
    ...DEFAULT?.operations,
    'hosting.requests': { meter: 'requests', price_micros: REQUEST, per: 1 },
  },
}

/** What is under way; nothing of it may stay. */
const OPEN = {
  'events of the processor': `SELECT count(*) AS n FROM keyhook_processor_events WHERE status = 'pending'`,
  'jobs of events': `SELECT count(*) AS n FROM keyhook_jobs WHERE kind = 'billing_event'`,
  'open holds': `SELECT count(*) AS n FROM keyhook_holds WHERE state = 'open'`,
  'credit that has expired': `SELECT count(*) AS n FROM keyhook_lots WHERE remaining > 0 AND expires_at <= $1`,
} as const

/** Pairs that must be as many: what was done, and what was told or charged of it. */
const PAIRS = [
  [
    'ledger_transactions WHERE kind IN (§)',
    'topup, monthly_credit, grant',
    'events WHERE type = §',
    'billing.credited',
  ],
  [
    'ledger_transactions WHERE kind IN (§)',
    'topup, monthly_credit',
    'audit WHERE action = §',
    'billing.credited',
  ],
  ['ledger_transactions WHERE kind IN (§)', 'grant', 'audit WHERE action = §', 'credit.granted'],
  ['ledger_transactions WHERE kind IN (§)', 'revoke', 'audit WHERE action = §', 'credit.revoked'],
  [
    'ledger_transactions WHERE kind IN (§)',
    'clawback',
    'audit WHERE action = §',
    'billing.clawed_back',
  ],
  [
    'ledger_transactions WHERE kind IN (§)',
    'reinstatement',
    'audit WHERE action = §',
    'billing.reinstated',
  ],
  ['ledger_transactions WHERE kind IN (§)', 'topup, monthly_credit', 'charges WHERE id <> §', ''],
  // Those of the steps themselves are of no app that there is.
  [
    `holds WHERE app_id <> 'app_1' AND state IN (§)`,
    'captured',
    'edits WHERE status = §',
    'completed',
  ],
] as const

export async function setTheBillingStage(
  t: Test,
  folder: string,
  database: string,
  env: Env,
): Promise<BillingStage> {
  const fake = await startFakeStripe({ version: API_VERSION })
  const model = await startFakeModel()
  t.teardown(() => Promise.all([fake.close(), model.close()]))
  const till = tillOf(fake)
  const prices = join(folder, 'prices.json')
  await writeFile(prices, JSON.stringify({ versions: [PRICES] }))
  const daemon = await startMortalDaemon(t, folder, {
    ...env,
    KEYHOOK_BILLING: 'stripe',
    KEYHOOK_PRICES: prices,
    ...(settingsOf(fake.url) as Record<string, string>),
    KEYHOOK_LLM_BASE_URL: model.url,
    KEYHOOK_LLM_MODEL: FAKE_MODEL,
    KEYHOOK_WORK_LEASE: '1',
    KEYHOOK_RATE_READS: '0',
    KEYHOOK_RATE_WRITES: '0',
  })
  const { store, client } = await openPlatformStore(database)
  // Days that have ended are charged at prices that were known when they began.
  await client.transaction((query) =>
    query('UPDATE keyhook_price_versions SET first_seen = 0 RETURNING version'),
  )
  const sending: Delivery[] = []

  async function count(sql: string): Promise<number> {
    const [row] = await client.read(sql, sql.includes('$1') ? [Date.now()] : [])
    return Number(row?.['n'])
  }

  async function underWay(): Promise<readonly string[]> {
    const counts = await Promise.all(
      Object.entries(OPEN).map(async ([what, sql]) => [what, await count(sql)] as const),
    )
    return counts.filter(([, open]) => open > 0).map(([what, open]) => `${open} ${what}`)
  }

  async function settle(): Promise<void> {
    let open: readonly string[] = []
    await until(
      'nothing is under way',
      async () => (open = await underWay()).length === 0,
      MINUTE,
    ).catch((cause: unknown) => {
      throw new Error(`still under way: ${open.join(', ')}`, { cause })
    })
  }

  const stage: BillingStage = {
    daemon,
    fake,
    till,
    model,
    store,
    async addAccount() {
      const { id } = await daemon.ask('POST', '/v1/accounts', { name: 'Crash' })
      return String(id)
    },
    async ask(as, method, path, body, key = randomUUID()) {
      const { authorization = '' } = daemon.headers
      const who: Record<string, string> = as.includes('_dk_')
        ? { authorization: `Bearer ${as}` }
        : { authorization, 'keyhook-account': as }
      const response = await fetch(daemon.url + path, {
        method,
        headers: { ...who, 'idempotency-key': key, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const answer = (await response.json()) as Row
      if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
      return answer
    },
    async deliver(how = { copies: 2, order: 'random', seed: randomUUID() }) {
      sending.push(...(await till.take(how)))
      for (let next = sending[0]; next !== undefined; next = sending[0]) {
        const answer = await fetch(`${daemon.url}/hooks/billing/stripe`, {
          method: 'POST',
          headers: next.headers as Record<string, string>,
          body: Buffer.from(next.body),
        })
        await answer.arrayBuffer()
        if (answer.status !== 200) throw new Error(`an event was answered with ${answer.status}`)
        sending.shift()
      }
    },
    async sweepNow(of) {
      await until('the sweep can be made due', () =>
        store.write(async (tx) => {
          const sweep = await tx.payments.sweep('stripe')
          if (sweep === undefined || !(await tx.jobs.dequeue('billing_sweep'))) return false
          const swept_at = of === 'payments' ? sweep.swept_at - 2 * HOUR : Date.now()
          await tx.payments.putSweep({ ...sweep, swept_at })
          await tx.jobs.enqueue({
            id: 'billing_sweep',
            kind: 'billing_sweep',
            app_id: '',
            account_id: '',
            queue: null,
            run_at: Date.now(),
          })
          return true
        }),
      )
    },
    async untilBalance(account, micros) {
      let found: number | undefined
      await until('the balance is right', async () => {
        found = (await store.ledger.wallet(account, Date.now()))?.balance
        return found === micros
      }).catch((cause: unknown) => {
        throw new Error(`a balance of ${micros} was expected, not ${String(found)}`, { cause })
      })
    },
    async killIn(plan, kill) {
      await kill(plan.run)
      await forgetClaims(client)
      await plan.run()
      await settle()
    },
    async wrong() {
      await settle()
      const { differences } = await store.ledger.verify(null)
      const wrong = differences.map((one) => JSON.stringify(one))
      const failed = await count(
        `SELECT count(*) AS n FROM keyhook_processor_events WHERE status = 'failed'`,
      )
      if (failed > 0) wrong.push(`${failed} events failed`)
      const credited = await count(
        `SELECT COALESCE(SUM(0 - amount), 0) AS n FROM keyhook_ledger_entries WHERE ledger = 'processor'`,
      )
      const paid = paidMoney(fake)
      if (credited !== paid) wrong.push(`${paid} micros were paid, and ${credited} credited`)
      for (const [done, which, told, what] of PAIRS) {
        const [left, right] = await Promise.all([
          count(`SELECT count(*) AS n FROM keyhook_${done.replace('§', quoted(which))}`),
          count(`SELECT count(*) AS n FROM keyhook_${told.replace('§', quoted(what))}`),
        ])
        if (left !== right) wrong.push(`${left} of ${done} ${which}, ${right} of ${told} ${what}`)
      }
      const payments = fake.state.all('charges').filter(({ paid: isPaid }) => isPaid).length
      const credits = await count('SELECT count(*) AS n FROM keyhook_charges')
      if (payments !== credits) wrong.push(`${payments} payments brought ${credits} credits`)
      const customers = fake.state.all('customers').length
      const known = await count('SELECT count(*) AS n FROM keyhook_billing_customers')
      if (customers !== known) wrong.push(`${customers} customers were made for ${known} accounts`)
      const sessions = fake.state.all('sessions').length
      const checkouts = await count('SELECT count(*) AS n FROM keyhook_checkouts')
      if (sessions !== checkouts) wrong.push(`${sessions} sessions were made for ${checkouts}`)
      return wrong
    },
    async close() {
      await daemon.stop()
      await store.close()
    },
  }
  return stage
}

const quoted = (values: string): string =>
  values
    .split(', ')
    .map((one) => `'${one}'`)
    .join(', ')

/** Micros that the fake was paid, less what it paid back or was taken from it. */
function paidMoney({ state }: FakeStripe): number {
  const paid = state.all('charges').map((one) => (one.paid ? one.amount - one.amount_refunded : 0))
  const moved = state
    .all('disputes')
    .flatMap(({ balance_transactions }) => balance_transactions.map(({ amount }) => amount))
  return CENT * [...paid, ...moved].reduce((sum, one) => sum + one, 0)
}

/** As if the minute had passed in which only the process that died may answer a request that it began. */
async function forgetClaims(client: SqlClient): Promise<void> {
  await client.transaction((query) =>
    query('UPDATE keyhook_idempotency SET expires_at = 0 WHERE status IS NULL RETURNING key'),
  )
}
